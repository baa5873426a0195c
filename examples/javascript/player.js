// A trained player: a bundle's network, asked by views.
import { CARDS, NAMES } from "./cards.js";
import { BundleError } from "./errors.js";
import { Encoder } from "./observation.js";
import { readQuestion } from "./question.js";
import { THROWN } from "./rules.js";
import { View } from "./view.js";

/**
 * Reads a file of a bundle by its name.
 * @typedef {(name: string) => Promise<Uint8Array>} Reader
 */

/**
 * Reader of a bundle that a web server offers.
 * @param {string | URL} address of the folder
 * @returns {Reader}
 */
export function fromUrl(address) {
  const folder = String(address).replace(/\/*$/, "/");
  return async (name) => {
    const response = await fetch(folder + name);
    if (!response.ok) throw new BundleError(`${folder}${name}: ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  };
}

/**
 * @param {string} data
 * @param {string} where it comes from, for messages
 * @returns {any}
 */
export function parseJson(data, where) {
  try {
    return JSON.parse(data);
  } catch {
    throw new BundleError(`${where} is damaged: it is no JSON`);
  }
}

/**
 * The bundle's spec.json.
 * @param {Reader} read
 * @returns {Promise<Record<string, any>>}
 */
export async function readSpec(read) {
  return parseJson(new TextDecoder().decode(await read("spec.json")), "spec.json");
}

/**
 * The player in a bundle.
 * @param {typeof import("onnxruntime-web")} ort the runtime, imported as suits the host
 * @param {Reader} read the bundle's files: `fromUrl`, or `fromFolder` under Node
 * @param {object} [options]
 * @param {number} [options.temperature] 0 for the best card always, more for weaker play
 * @param {() => number} [options.random] from 0 to 1, for a temperature above 0
 * @returns {Promise<Player>}
 */
export async function loadPlayer(ort, read, options = {}) {
  const spec = await readSpec(read);
  const encoder = new Encoder(spec);
  const model = await read("model.onnx");
  await checkSum(model, spec.sha256);
  const session = await ort.InferenceSession.create(model).catch((error) => {
    throw new BundleError(`model.onnx cannot be loaded: ${error.message}`);
  });
  return new Player(ort, session, spec, encoder, options);
}

/**
 * Browsers hash only on pages from https or from the own machine; elsewhere this is left out.
 * @param {Uint8Array} model
 * @param {string} expected
 */
async function checkSum(model, expected) {
  if (!globalThis.crypto?.subtle) return;
  const digest = await crypto.subtle.digest("SHA-256", /** @type {BufferSource} */ (model));
  const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  if (hex !== expected) {
    throw new BundleError("model.onnx is damaged: its checksum is not that of spec.json");
  }
}

/** A trained player. Made by `loadPlayer`. */
export class Player {
  /**
   * @param {typeof import("onnxruntime-web")} ort
   * @param {import("onnxruntime-web").InferenceSession} session
   * @param {Record<string, any>} spec
   * @param {Encoder} encoder
   * @param {{ temperature?: number, random?: () => number }} options
   * @throws {RangeError} for a temperature that is none
   */
  constructor(ort, session, spec, encoder, { temperature = 0, random = Math.random }) {
    if (!(Number.isFinite(temperature) && temperature >= 0)) {
      throw new RangeError(`a temperature is a number from 0, not ${String(temperature)}`);
    }
    this.ort = ort;
    this.session = session;
    this.encoder = encoder;
    /** @type {string} */
    this.name = spec.name;
    this.temperature = temperature;
    this.random = random;
  }

  /**
   * What the network says of a decision.
   * @param {Float32Array} observation
   * @param {Int8Array} mask 1 for each legal card
   * @returns {Promise<{ logits: Float32Array, value: number }>} logits by card; the value is
   *   explained in spec.json
   */
  async judge(observation, mask) {
    const { Tensor } = this.ort;
    const { logits, value } = await this.session.run({
      observation: new Tensor("float32", observation, [1, observation.length]),
      action_mask: new Tensor("int8", mask, [1, CARDS]),
    });
    return {
      logits: /** @type {Float32Array} */ (logits.data),
      value: /** @type {Float32Array} */ (value.data)[0],
    };
  }

  /**
   * The next card to throw or to lay.
   * @param {View} view
   * @returns {Promise<number>}
   */
  async choose(view) {
    const { observation, mask } = this.encoder.encode(view);
    const { logits } = await this.judge(observation, mask);
    return this.temperature > 0 ? this.draw(logits, mask) : best(logits);
  }

  /**
   * Answer a view of the wire message.
   * @param {Record<string, any>} message
   * @returns {Promise<{ discard?: string[], play?: string, go?: true, assumed?: string[] }>}
   */
  async act(message) {
    const { view, asks, assumed } = readQuestion(message, this.encoder.rules);
    const told = assumed.length > 0 ? { assumed } : {};
    if (asks === "go") return { go: true, ...told };
    if (asks === "play") return { play: NAMES[await this.choose(view)], ...told };
    return { discard: (await this.discard(view)).map((card) => NAMES[card]), ...told };
  }

  /**
   * All the cards to throw, ascending: one decision each.
   * @param {View} view
   * @returns {Promise<number[]>}
   */
  async discard(view) {
    const names = (/** @type {number[]} */ cards) => cards.map((card) => NAMES[card]);
    const { seat, dealer, scores } = view;
    /** @type {number[]} */
    const thrown = [];
    let { hand, discards } = view;
    while (discards.length < THROWN) {
      const message = { seat, dealer, scores, hand: names(hand), discards: names(discards) };
      const card = await this.choose(new View(message, this.encoder.rules));
      thrown.push(card);
      hand = hand.filter((held) => held !== card);
      discards = [...discards, card];
    }
    return thrown.sort((one, other) => one - other);
  }

  /**
   * A legal card by the softmax of the logits.
   * @private
   * @param {Float32Array} logits
   * @param {Int8Array} mask
   */
  draw(logits, mask) {
    const most = Math.max(...logits);
    const odds = Array.from(
      logits,
      (logit, card) => mask[card] * Math.exp((logit - most) / this.temperature),
    );
    let left = this.random() * odds.reduce((sum, chance) => sum + chance, 0);
    const card = odds.findIndex((chance) => (left -= chance) < 0);
    return card < 0 ? best(logits) : card;
  }
}

/**
 * The card with the highest logit; of equal ones the lowest.
 * @param {Float32Array} logits
 */
export function best(logits) {
  return logits.reduce((card, logit, other) => (logit > logits[card] ? other : card), 0);
}
