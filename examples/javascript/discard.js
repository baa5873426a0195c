// What each card is worth as the next discard: the mean show of the best keep without it, and the crib.
import { CARDS, rankOf } from "./cards.js";
import { THROWN } from "./rules.js";
import { showPoints } from "./scoring.js";

/**
 * Mean points of a keep over every starter that the thrower has not seen.
 * @param {number[]} keep
 * @param {number[]} seen the cards that cannot be the starter
 */
function meanShow(keep, seen) {
  let total = 0;
  for (let starter = 0; starter < CARDS; starter++) {
    if (!seen.includes(starter)) total += showPoints(keep, starter);
  }
  return total / (CARDS - seen.length);
}

/**
 * For each card of the hand, the value in points of the best whole discard with it.
 * @param {number[]} hand the cards still held
 * @param {number[]} thrown what is thrown already: no card or one
 * @param {boolean} ours whether the crib is the thrower's own
 * @param {{ own: number[][], opponent: number[][] }} cribMeans of the bundle's spec
 * @returns {Map<number, number>}
 */
export function discardValues(hand, thrown, ours, cribMeans) {
  const seen = [...hand, ...thrown];
  /** @type {Map<number, number>} */
  const best = new Map();
  for (const cards of waysToThrow(hand, THROWN - thrown.length)) {
    const keep = hand.filter((card) => !cards.includes(card));
    const [one, other] = [...thrown, ...cards].map(rankOf);
    const crib = ours ? cribMeans.own[one][other] : -cribMeans.opponent[one][other];
    const value = meanShow(keep, seen) + crib;
    for (const card of cards) best.set(card, Math.max(value, best.get(card) ?? -Infinity));
  }
  return best;
}

/**
 * @param {number[]} hand
 * @param {number} number of cards to throw: one or two
 * @returns {number[][]}
 */
function waysToThrow(hand, number) {
  if (number === 1) return hand.map((card) => [card]);
  return hand.flatMap((one, at) => hand.slice(at + 1).map((other) => [one, other]));
}
