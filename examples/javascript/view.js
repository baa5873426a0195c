// What one seat sees. Everything else (phase, count, turn, legal cards) follows from it.
import { CARDS, NAMES, parseCard, text } from "./cards.js";
import { invalidView, quoted } from "./errors.js";
import { Play } from "./play.js";
import { DEALT, KEPT, SEATS, THROWN } from "./rules.js";

/** All and only what a seat can know. Throws a `QuestionError` where no game can come to it. */
export class View {
  /**
   * @param {Record<string, any>} message the view's JSON, with `plays` rather than `series`
   * @param {import("./rules.js").Rules} rules of the bundle
   */
  constructor(message, rules) {
    const { scores, discards, starter, plays, earlier } = message;
    this.target = rules.target;
    this.seat = seatNumber(message.seat, "seat");
    this.dealer = seatNumber(message.dealer, "dealer");
    /** Cards still held, ascending. */
    this.hand = cardsOf(message.hand, "hand");
    this.discards = cardsOf(discards ?? [], "discards");
    /** @type {number | null} */
    this.starter = starter == null ? null : parseCard(starter);
    /** @type {{ seat: number, card: number | null }[]} */
    this.plays = listOf(plays ?? [], "plays").map(entryOf);
    this.scores = wholeNumbers(scores ?? [0, 0], "scores", SEATS, rules.target);
    /** Cards that each seat laid before `plays` begins; empty as a rule. */
    this.earlier =
      earlier == null || earlier.length === 0
        ? []
        : wholeNumbers(earlier, "earlier", SEATS, KEPT);
    if (this.scores.every((score) => score === rules.target)) {
      throw invalidView("only one side can have reached the target");
    }
    this.inPlay = isInPlay(this);
    this.checkCards();
    /** The table as far as the view tells it; null before the play. */
    this.play = this.inPlay ? new Play(this) : null;
  }

  /** @returns {"discard" | "play" | "deal-over" | "over"} */
  get phase() {
    if (this.scores.includes(this.target)) return "over";
    if (this.play === null) return "discard";
    return this.play.ended ? "deal-over" : "play";
  }

  /** The table when this seat is asked to lay a card: so the other's implied go has been said. */
  forDecision() {
    if (this.play === null) return null;
    const play = new Play(this);
    if (this.phase === "play") play.giveTurn();
    return play;
  }

  /** @private */
  checkCards() {
    const laid = this.plays.flatMap(({ card }) => (card === null ? [] : [card]));
    const turned = this.starter === null ? [] : [this.starter];
    const times = new Array(CARDS).fill(0);
    for (const card of [...this.hand, ...this.discards, ...turned, ...laid]) {
      times[card] += 1;
      if (times[card] > 1) throw invalidView(`${NAMES[card]} comes twice in the view`);
    }
    if (this.discards.length > THROWN) {
      throw invalidView(
        `each seat throws ${THROWN}, but the discards are ${text(this.discards)}`,
      );
    }
    const own = this.plays.filter(({ seat, card }) => seat === this.seat && card !== null).length;
    const known = own + (this.earlier[this.seat] ?? 0);
    if (this.inPlay && this.hand.length + known !== KEPT) {
      throw invalidView(
        `seat ${this.seat} keeps ${KEPT} cards for the play, but holds ${this.hand.length} ` +
          `and has laid ${known}`,
      );
    }
    if (!this.inPlay && this.hand.length + this.discards.length !== DEALT) {
      throw invalidView(
        `${DEALT} cards are dealt, but the view has ${this.hand.length} in hand and ` +
          `${this.discards.length} thrown`,
      );
    }
  }
}

/**
 * Whether all have thrown, told by any sign of the play or by the size of the hand.
 * @param {{ hand: any[], discards?: any[] | null, starter?: any, plays?: any[] | null,
 *   series?: any[] | null, earlier?: number[] | null }} view
 */
export function isInPlay({ hand, discards, starter, plays, series, earlier }) {
  const begun = starter != null || plays?.length || series?.length || earlier?.some((n) => n > 0);
  return Boolean(begun) || (hand.length <= KEPT && !discards?.length);
}

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {any[]}
 */
function listOf(value, name) {
  if (!Array.isArray(value)) throw invalidView(`${name} is a list, not ${quoted(value)}`);
  return value;
}

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {number[]} ascending
 */
function cardsOf(value, name) {
  return listOf(value, name).map(parseCard).sort((one, other) => one - other);
}

/**
 * @param {any} value
 * @param {string} name
 * @returns {number}
 */
function seatNumber(value, name) {
  if (value === 0 || value === 1) return value;
  throw invalidView(`${name} goes from 0 to ${SEATS - 1}, not ${quoted(value)}`);
}

/**
 * @param {unknown} value
 * @param {string} name
 * @param {number} length
 * @param {number} most
 * @returns {number[]}
 */
function wholeNumbers(value, name, length, most) {
  const numbers = listOf(value, name);
  if (numbers.length !== length) throw invalidView(`${name} has a number for each of ${length} seats`);
  for (const number of numbers) {
    if (!Number.isInteger(number) || number < 0 || number > most) {
      throw invalidView(`${name} go from 0 to ${most}, not ${quoted(number)}`);
    }
  }
  return numbers;
}

/**
 * @param {unknown} entry
 * @returns {{ seat: number, card: number | null }}
 */
function entryOf(entry) {
  if (!Array.isArray(entry) || entry.length !== 2) {
    throw invalidView(`a play is [seat, card] or [seat, "go"], not ${quoted(entry)}`);
  }
  const seat = seatNumber(entry[0], "the seat of a play");
  return { seat, card: isGo(entry[1]) ? null : parseCard(entry[1]) };
}

/** @param {unknown} written */
export const isGo = (written) =>
  typeof written === "string" && written.trim().toLowerCase() === "go";
