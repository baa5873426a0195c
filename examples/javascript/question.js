// From the wire's view, where much may be missing, to a `View` and what is asked of it.
import { QuestionError, invalidView } from "./errors.js";
import { KEPT, THROWN, checkAsked } from "./rules.js";
import { View, isGo, isInPlay } from "./view.js";

const NEEDED = ["seat", "dealer", "hand"];
const OPTIONAL = [
  "scores", "discards", "starter", "plays", "series", "earlier", "target", "rules", "players",
];

/**
 * @typedef {object} Question
 * @property {View} view
 * @property {"discard" | "play" | "go"} asks `go` where no card of the hand fits
 * @property {string[]} assumed fields that were missing, and that the question depends on
 */

/**
 * What a view asks for.
 * @param {Record<string, any>} asked the view as it came
 * @param {import("./rules.js").Rules & Record<string, any>} rules of the bundle
 * @returns {Question}
 */
export function readQuestion(asked, rules) {
  const message = checkFields(asked);
  checkAsked(message, rules);
  const plays = message.series === undefined ? message.plays : withOwners(message);
  /** @type {QuestionError | undefined} */
  let refusal;
  for (const earlier of earlierGuesses(message, plays ?? [])) {
    try {
      const view = new View({ ...message, plays, earlier }, rules);
      return { view, asks: whatItAsks(view), assumed: assumptions(message) };
    } catch (error) {
      if (!(error instanceof QuestionError)) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

/**
 * The message without its nulls, which count as missing.
 * @param {unknown} asked
 * @returns {Record<string, any>}
 */
function checkFields(asked) {
  if (typeof asked !== "object" || asked === null || Array.isArray(asked)) {
    throw invalidView("a view is an object with named fields");
  }
  const message = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== null));
  for (const name of NEEDED) {
    if (!(name in message)) throw invalidView(`a view needs "${name}"`);
  }
  for (const name of Object.keys(message)) {
    if (![...NEEDED, ...OPTIONAL].includes(name)) {
      throw invalidView(`a view has no field "${name}"`);
    }
  }
  for (const name of ["hand", "discards", "plays", "series", "earlier"]) {
    if (name in message && !Array.isArray(message[name])) throw invalidView(`${name} is a list`);
  }
  if ("plays" in message && "series" in message) {
    throw invalidView("a view has plays or series, not both");
  }
  return message;
}

/** @param {Record<string, any>} message */
function assumptions(message) {
  const names = ["scores"];
  if (isInPlay(/** @type {any} */ (message))) names.push("discards", "starter", "plays");
  if (!("rules" in message)) names.push("target", "rules", "players");
  return names.filter((name) => !(name in message));
}

/**
 * A series with the seats of its cards. Where it has none, two players have taken turns, but not
 * after a go; and now it is this seat's turn.
 * @param {Record<string, any>} message
 * @returns {[number, string][]}
 */
function withOwners({ series, seat }) {
  const bare = series.filter((/** @type {unknown} */ entry) => typeof entry === "string");
  if (bare.length === 0) return series;
  if (bare.length < series.length) {
    throw invalidView("a series has a seat for each of its cards, or for none");
  }
  const ways = [1 - seat, seat].map((leader) => takeTurns(bare, leader));
  return (ways.find(({ turn }) => turn === seat) ?? ways[1]).owned;
}

/**
 * @param {string[]} bare
 * @param {number} leader
 */
function takeTurns(bare, leader) {
  /** @type {[number, string][]} */
  const owned = [];
  let turn = leader;
  let last = leader;
  let gone = new Set();
  for (const entry of bare) {
    owned.push([turn, entry]);
    if (isGo(entry)) gone.add(turn);
    else last = turn;
    if (gone.size === 2) {
      turn = 1 - last;
      gone = new Set();
    } else if (!gone.has(1 - turn)) {
      turn = 1 - turn;
    }
  }
  return { owned, turn };
}

/**
 * How many cards each seat may have laid before `plays` begin, likeliest first. The own hand tells
 * of the own cards; the other has laid as many, or one more or less by the order of turns.
 * @param {Record<string, any>} message
 * @param {[number, string][]} plays
 * @returns {number[][]}
 */
function earlierGuesses(message, plays) {
  const { seat, dealer, hand } = message;
  if ("earlier" in message) return [message.earlier];
  if ("plays" in message || !isInPlay(/** @type {any} */ (message))) return [[]];
  const laid = [0, 1].map(
    (owner) => plays.filter(([other, entry]) => other === owner && !isGo(entry)).length,
  );
  const own = KEPT - hand.length - laid[seat];
  if (!(own > 0)) return [[]]; // the first series, or a view that will be refused
  const other = 1 - seat;
  const leader = plays.length > 0 ? plays[0][0] : seat;
  // Turns from the dealer's left: who comes before the leader has laid one more.
  const place = (/** @type {number} */ one) => (one + 1 - dealer) % 2;
  const ahead = (/** @type {number} */ one) => (place(one) < place(leader) ? 1 : 0);
  const expected = own + ahead(other) - ahead(seat);
  return Array.from({ length: Math.max(KEPT - laid[other], 0) + 1 }, (_, number) => number)
    .sort((one, two) => Math.abs(one - expected) - Math.abs(two - expected))
    .map((number) => (seat === 0 ? [own, number] : [number, own]));
}

/**
 * @param {View} view
 * @returns {"discard" | "play" | "go"}
 */
function whatItAsks(view) {
  const { phase, seat, play } = view;
  const notYours = (/** @type {string} */ why) => new QuestionError("not-your-turn", why);
  if (phase === "over") throw notYours(`the game is over: the score is ${view.scores}`);
  if (play === null) {
    if (view.discards.length < THROWN) return "discard";
    throw notYours(`seat ${seat} has thrown its cards: a view of the play has a starter`);
  }
  if (view.hand.length === 0) throw notYours(`seat ${seat} has no card left to play`);
  if (passIsDue(view)) return "go";
  if (phase === "play" && mayLay(view)) return "play";
  if (phase === "play") throw notYours(`it is the turn of seat ${play.toAct}`);
  throw notYours("the play of this deal is over");
}

/** @param {View} view */
function mayLay(view) {
  try {
    const play = view.forDecision();
    return play?.toAct === view.seat && play.fitting().length > 0;
  } catch (error) {
    if (error instanceof QuestionError) return false; // the other could not have passed
    throw error;
  }
}

/**
 * Whether this seat has to say go and has not: the play has its go, the caller has not.
 * @param {View} view
 */
function passIsDue({ play, plays, seat }) {
  const said = goesAtEnd(play?.history ?? []).includes(seat);
  return said && !goesAtEnd(plays).includes(seat);
}

/**
 * Seats that said go after the last card.
 * @param {{ seat: number, card: number | null }[]} entries
 */
function goesAtEnd(entries) {
  const from = entries.map(({ card }) => card !== null).lastIndexOf(true) + 1;
  return entries.slice(from).map(({ seat }) => seat);
}
