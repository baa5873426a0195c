// A card is a number: 4 x rank + suit, from 0 (AC) to 51 (KS).
import { QuestionError, quoted } from "./errors.js";

const RANKS = "A23456789TJQK";
const SUITS = "CDHS";
const SIGNS = ["♣♧", "♦♢", "♥♡", "♠♤"];

export const CARDS = 52;
export const JACK = RANKS.indexOf("J");

/** Every card's text, by index. */
export const NAMES = Array.from({ length: CARDS }, (_, card) => RANKS[card >> 2] + SUITS[card & 3]);

/** @param {number} card */
export const rankOf = (card) => card >> 2;

/** @param {number} card */
export const suitOf = (card) => card & 3;

/**
 * What a card counts in the play and for fifteens, 1 to 10.
 * @param {number} card
 */
export const pip = (card) => Math.min((card >> 2) + 1, 10);

/** @param {number[]} cards */
export const text = (cards) => cards.map((card) => NAMES[card]).join(" ");

/**
 * The card that a text names: "5H", "10h", "T♥".
 * @param {unknown} written
 * @returns {number}
 */
export function parseCard(written) {
  if (typeof written === "string") {
    let name = written.trim().toUpperCase().replace("\ufe0f", "");
    SIGNS.forEach((signs, suit) => {
      for (const sign of signs) name = name.replace(sign, SUITS[suit]);
    });
    const card = NAMES.indexOf(name.replace(/^10/, "T"));
    if (card >= 0) return card;
  }
  throw new QuestionError(
    "invalid-card",
    `${quoted(written)} is not a card: write a rank (A 2-9 T J Q K) and a suit (C D H S), as in 5H`,
  );
}
