// What cards are worth: the show, and the last card of a series in the play.
import { JACK, pip, rankOf, suitOf } from "./cards.js";

/**
 * Points of four cards with the starter: fifteens, pairs, runs, flush and nobs.
 * @param {number[]} hand four cards, or the crib's
 * @param {number} starter
 * @param {object} [options]
 * @param {boolean} [options.isCrib]
 * @param {"five" | "four"} [options.cribFlush] whether the crib's flush needs the starter too
 */
export function showPoints(hand, starter, { isCrib = false, cribFlush = "five" } = {}) {
  const cards = [...hand, starter];
  const needsStarter = isCrib && cribFlush === "five";
  return (
    fifteens(cards) +
    pairs(cards) +
    runs(cards) +
    flush(hand, starter, needsStarter) +
    nobs(hand, starter)
  );
}

/** @param {number[]} cards */
function fifteens(cards) {
  const ways = new Array(16).fill(0); // how many subsets add up to each sum
  ways[0] = 1;
  for (const card of cards) {
    for (let sum = 15; sum >= pip(card); sum--) ways[sum] += ways[sum - pip(card)];
  }
  return 2 * ways[15];
}

/** @param {number[]} cards */
function perRank(cards) {
  const numbers = new Array(13).fill(0);
  for (const card of cards) numbers[rankOf(card)] += 1;
  return numbers;
}

/** @param {number[]} cards */
function pairs(cards) {
  return perRank(cards).reduce((points, number) => points + number * (number - 1), 0);
}

/**
 * A run counts its length once for each way to make it. Of five cards, only one run is the longest.
 * @param {number[]} cards
 */
function runs(cards) {
  let points = 0;
  let length = 0;
  let ways = 1;
  for (const number of [...perRank(cards), 0]) {
    if (number > 0) {
      length += 1;
      ways *= number;
      continue;
    }
    if (length >= 3) points = length * ways;
    length = 0;
    ways = 1;
  }
  return points;
}

/**
 * @param {number[]} hand
 * @param {number} starter
 * @param {boolean} needsStarter
 */
function flush(hand, starter, needsStarter) {
  const suit = suitOf(hand[0]);
  if (hand.length < 4 || hand.some((card) => suitOf(card) !== suit)) return 0;
  if (suitOf(starter) === suit) return hand.length + 1;
  return needsStarter ? 0 : hand.length;
}

/**
 * @param {number[]} hand
 * @param {number} starter
 */
function nobs(hand, starter) {
  return hand.includes(4 * JACK + suitOf(starter)) ? 1 : 0;
}

/**
 * What the last card of a series pegs at once, without the point for a go or the last card.
 * @param {number[]} series cards since the count was last nothing, oldest first
 */
export function playPoints(series) {
  const count = series.reduce((sum, card) => sum + pip(card), 0);
  const latest = series.map(rankOf).reverse();
  let same = 1;
  while (latest[same] === latest[0]) same += 1;
  const special = count === 15 || count === 31 ? 2 : 0;
  return special + same * (same - 1) + runAtEnd(latest);
}

/**
 * The longest run that the last cards make, in any order.
 * @param {number[]} latest ranks, the last card's first
 */
function runAtEnd(latest) {
  for (let size = latest.length; size >= 3; size--) {
    const ranks = latest.slice(0, size);
    const span = Math.max(...ranks) - Math.min(...ranks);
    if (new Set(ranks).size === size && span === size - 1) return size;
  }
  return 0;
}
