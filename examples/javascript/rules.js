// The game that this code knows: six cards for two. Bundles for another are refused.
import { BundleError, QuestionError } from "./errors.js";

export const SEATS = 2;
export const DEALT = 6;
export const THROWN = 2;
export const KEPT = DEALT - THROWN;
export const MOST = 31;

/** Settings that the play and the discard here are written for; the target may be any. */
const PLAYED = {
  players: SEATS,
  dealt: DEALT,
  thrown: THROWN,
  blind: 0,
  teams: false,
  leader_after_reset: "left_of_last",
  go_continuation: "all",
  play_single_count: false,
};

/**
 * @typedef {object} Rules
 * @property {number} target points that win
 * @property {"five" | "four"} crib_flush cards of one suit that make a flush in the crib
 */

/**
 * Refuse a bundle that plays another game.
 * @param {Record<string, unknown>} rules of its spec
 */
export function checkPlayed(rules) {
  for (const [name, value] of Object.entries(PLAYED)) {
    if (rules[name] !== value) {
      throw new BundleError(`it plays another game: ${name} is ${rules[name]}, not ${value}`);
    }
  }
}

/**
 * Refuse a question about another game than the bundle's.
 * @param {Record<string, any>} message a view as it came
 * @param {Record<string, any>} rules of the bundle
 */
export function checkAsked({ rules: asked, target, players }, rules) {
  const fields = typeof asked === "object" && asked !== null ? { ...asked } : {};
  const preset = typeof asked === "string" ? asked : (fields.preset ?? "six-card");
  delete fields.preset;
  if (target != null) fields.target = target;
  if (players != null) fields.players = players;
  const other = Object.keys(fields).filter((name) => !same(fields[name], rules[name]));
  if (preset !== "six-card" || other.length > 0) {
    const what = other.length > 0 ? `its ${other.join(", ")} differ` : `not ${preset}`;
    throw new QuestionError("invalid-rules", `this player plays six-card for two: ${what}`);
  }
}

/**
 * @param {unknown} one
 * @param {unknown} other
 */
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
