// A bundle's own test: cases from view to observation to mask to card.
import { NAMES } from "./cards.js";
import { best, parseJson } from "./player.js";
import { View } from "./view.js";

const SAME = 1e-6; // numbers of an observation may differ by rounding

/**
 * @typedef {object} Case one line of vectors.jsonl
 * @property {Record<string, any>} view
 * @property {number[]} observation
 * @property {number[]} action_mask
 * @property {number} action
 * @property {string} card
 */

/**
 * The cases of a bundle.
 * @param {import("./player.js").Reader} read
 * @returns {Promise<Case[]>}
 */
export async function readCases(read) {
  const lines = new TextDecoder().decode(await read("vectors.jsonl")).trim().split("\n");
  return lines.map((line, at) => parseJson(line, `vectors.jsonl, line ${at + 1},`));
}

/**
 * What comes out otherwise than a case says, in words; null where all is as it should be.
 * @param {Case} wanted
 * @param {import("./observation.js").Encoder} encoder
 * @param {import("./player.js").Player | null} player null to leave the network out
 * @returns {Promise<string | null>}
 */
export async function difference(wanted, encoder, player) {
  const { observation, mask } = encoder.encode(new View(wanted.view, encoder.rules));
  if (observation.length !== wanted.observation.length) {
    return `the observation has ${observation.length} numbers, not ${wanted.observation.length}`;
  }
  const at = observation.findIndex((number, n) => !(Math.abs(number - wanted.observation[n]) <= SAME));
  if (at >= 0) return `${encoder.nameOf(at)} is ${observation[at]}, not ${wanted.observation[at]}`;
  const card = mask.findIndex((legal, n) => legal !== wanted.action_mask[n]);
  if (card >= 0) return `the mask of ${NAMES[card]} is ${mask[card]}, not ${wanted.action_mask[card]}`;
  if (player === null) return null;
  const { logits } = await player.judge(observation, mask);
  const chosen = best(logits);
  if (chosen === wanted.action && NAMES[chosen] === wanted.card) return null;
  const gap = logits[chosen] - logits[wanted.action];
  return `${NAMES[chosen]} is chosen, not ${wanted.card}: its logit is higher by ${gap}`;
}
