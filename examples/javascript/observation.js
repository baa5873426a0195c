// From a view to the numbers that the network reads: named pieces, laid out as spec.json says.
import { CARDS, NAMES, rankOf, suitOf } from "./cards.js";
import { discardValues } from "./discard.js";
import { BundleError } from "./errors.js";
import { KEPT, MOST, SEATS, THROWN, checkPlayed } from "./rules.js";
import { playPoints } from "./scoring.js";

const TABLE = SEATS * KEPT; // cards that can lie on the table
const COUNTS = 10; // what a card can count: 1 to 10
const RECENT = 4; // cards of the series that are told one by one
const RANKS = 13;

/**
 * @typedef {object} Position what a piece is written from
 * @property {import("./view.js").View} view
 * @property {import("./play.js").Play | null} play the table; null before the play
 * @property {import("./play.js").Play | null} open the same, as long as cards are to be laid
 * @property {(seat: number) => number} place of a seat, counted from the observer: 0 is he himself
 * @property {{ own: number[][], opponent: number[][] }} cribMeans
 */

/**
 * How to write each piece, and its length. All numbers are 0 before.
 * @type {Record<string, { length: number,
 *   write: (out: Float32Array, position: Position) => void }>}
 */
const PIECES = {
  hand: { length: CARDS, write: (out, { view }) => mark(out, view.hand) },
  thrown: { length: CARDS, write: (out, { view }) => mark(out, view.discards) },
  starter: {
    length: RANKS + 4,
    write(out, { view: { starter } }) {
      if (starter !== null) mark(out, [rankOf(starter), RANKS + suitOf(starter)]);
    },
  },
  laid: {
    length: CARDS * SEATS,
    write(out, { play, place }) {
      for (const { seat, card, laid } of play?.history ?? []) {
        if (card !== null) out[CARDS * place(seat) + card] = laid / TABLE;
      }
    },
  },
  goes: {
    length: TABLE * SEATS,
    write(out, { play, place }) {
      for (const { seat, laid } of goes(play)) out[TABLE * place(seat) + laid - 1] = 1;
    },
  },
  recent: {
    length: RANKS * RECENT,
    write(out, { open }) {
      const latest = [...(open?.series ?? [])].reverse().slice(0, RECENT);
      latest.forEach((card, back) => mark(out, [RANKS * back + rankOf(card)]));
    },
  },
  series: {
    length: RANKS,
    write(out, { open }) {
      for (const card of open?.series ?? []) out[rankOf(card)] += 0.25;
    },
  },
  count: {
    length: MOST + 1,
    write(out, { open }) {
      if (open) out[open.count] = 1;
    },
  },
  phase: {
    length: THROWN + 1,
    write(out, { view, open }) {
      if (open) out[THROWN] = 1;
      else if (isThrowing(view)) out[view.discards.length] = 1;
    },
  },
  dealer: { length: SEATS, write: (out, { view, place }) => mark(out, [place(view.dealer)]) },
  last: {
    length: SEATS,
    write(out, { open, place }) {
      if (open && open.series.length > 0) out[place(open.last)] = 1;
    },
  },
  gone: {
    length: SEATS,
    write(out, { open, place }) {
      open?.gone.forEach((gone, seat) => (out[place(seat)] = Number(gone)));
    },
  },
  held: {
    length: SEATS,
    write(out, { play, place }) {
      play?.held.forEach((cards, seat) => (out[place(seat)] = cards / 6));
    },
  },
  scores: {
    length: SEATS,
    write(out, { view, place }) {
      view.scores.forEach((score, seat) => (out[place(seat)] = score / view.target));
    },
  },
  to_go: {
    length: SEATS,
    write(out, { view, place }) {
      view.scores.forEach((score, seat) => {
        out[place(seat)] = Math.min(view.target - score, MOST) / MOST;
      });
    },
  },
  points: { length: CARDS, write: writePoints },
  barred: {
    length: COUNTS * SEATS,
    write(out, { play, place }) {
      for (const { seat, count } of goes(play)) {
        const from = COUNTS * place(seat);
        out.fill(1, from, from + Math.min(MOST - count, COUNTS)); // any of these would have fitted
      }
    },
  },
};

/**
 * @param {Float32Array} out
 * @param {number[]} places
 */
function mark(out, places) {
  for (const place of places) out[place] = 1;
}

/** @param {import("./play.js").Play | null} play */
const goes = (play) => (play?.history ?? []).filter(({ card }) => card === null);

/**
 * For each legal card, in tens of points: what it pegs, or what the best discard with it is worth.
 * @param {Float32Array} out
 * @param {Position} position
 */
function writePoints(out, { view, open, cribMeans }) {
  if (open) {
    for (const card of open.fitting()) out[card] = 0.1 * playPoints([...open.series, card]);
  } else if (isThrowing(view)) {
    const ours = view.dealer === view.seat;
    for (const [card, value] of discardValues(view.hand, view.discards, ours, cribMeans)) {
      out[card] = 0.1 * value;
    }
  }
}

/** @param {import("./view.js").View} view */
const isThrowing = (view) => view.phase === "discard" && view.discards.length < THROWN;

/** Writes the observations of one bundle's network. */
export class Encoder {
  /** @param {Record<string, any>} spec the bundle's spec.json */
  constructor(spec) {
    if (spec?.format !== "cribbage-bundle" || spec.version !== 1) {
      throw new BundleError(`it is of ${spec?.format} ${spec?.version}, not cribbage-bundle 1`);
    }
    if (!spec.rules || !Array.isArray(spec.observation) || !spec.crib_means) {
      throw new BundleError("spec.json is damaged");
    }
    checkPlayed(spec.rules);
    if (String(spec.cards) !== String(NAMES)) throw new BundleError("its cards are in another order");
    for (const { name, length } of spec.observation) {
      if (PIECES[name]?.length !== length) {
        throw new BundleError(`it reads other observations: piece ${name} is not known here`);
      }
    }
    this.rules = spec.rules;
    /** Numbers in an observation. @type {number} */
    this.size = spec.observation_size;
    /** @type {{ name: string, offset: number, length: number }[]} */
    this.layout = spec.observation;
    /** @type {{ own: number[][], opponent: number[][] }} */
    this.cribMeans = spec.crib_means;
  }

  /**
   * Observation and mask of the decision that a view asks for.
   * @param {import("./view.js").View} view
   * @returns {{ observation: Float32Array, mask: Int8Array }}
   */
  encode(view) {
    const play = view.forDecision();
    const open = view.phase === "play" && !play?.ended ? play : null;
    const { seat } = view;
    const place = (/** @type {number} */ other) => (other === seat ? 0 : 1);
    const position = { view, play, open, place, cribMeans: this.cribMeans };
    const observation = new Float32Array(this.size);
    for (const { name, offset, length } of this.layout) {
      PIECES[name].write(observation.subarray(offset, offset + length), position);
    }
    return { observation, mask: maskOf(legalCards(view, open)) };
  }

  /**
   * The piece that a number of the observation belongs to, for messages.
   * @param {number} at
   */
  nameOf(at) {
    const piece = this.layout.find(({ offset, length }) => at >= offset && at < offset + length);
    return piece ? `${piece.name}[${at - piece.offset}]` : `[${at}]`;
  }
}

/**
 * @param {import("./view.js").View} view
 * @param {import("./play.js").Play | null} open
 * @returns {number[]}
 */
function legalCards(view, open) {
  if (view.phase === "discard") return view.hand;
  return open?.toAct === view.seat ? open.fitting() : [];
}

/**
 * 1 for each legal card; all ones where there is nothing to choose.
 * @param {number[]} legal
 */
function maskOf(legal) {
  const mask = new Int8Array(CARDS).fill(legal.length === 0 ? 1 : 0);
  for (const card of legal) mask[card] = 1;
  return mask;
}
