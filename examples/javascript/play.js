// The play of a view laid again, card by card, with the goes that the view leaves out.
import { NAMES, pip } from "./cards.js";
import { QuestionError, invalidView } from "./errors.js";
import { KEPT, MOST } from "./rules.js";

/** Up to this count every card fits, so nobody can have passed. */
const ALL_FIT = MOST - 10;

/**
 * @typedef {object} Entry one thing that happened in the play
 * @property {number} seat
 * @property {number | null} card null for a go
 * @property {number} laid cards on the table by then, this one too
 * @property {number} count by then
 */

/** The table as one seat sees it, once everything that its view tells has happened. */
export class Play {
  /** @param {import("./view.js").View} view */
  constructor(view) {
    this.view = view;
    /** Cards that each seat holds. */
    this.held = [0, 1].map((seat) => KEPT - (view.earlier[seat] ?? 0));
    /** @type {Entry[]} */
    this.history = [];
    this.laid = 0;
    this.last = -1;
    this.ended = false;
    this.toAct = 1 - view.dealer;
    this.at = 0;
    this.count = 0;
    /** @type {number[]} cards since the count was last nothing, oldest first */
    this.series = [];
    /** Seats that said go in this series. */
    this.gone = [false, false];
    this.run();
  }

  /** @private */
  run() {
    for (const { seat, card } of this.view.plays) {
      if (card === null) this.go(seat);
      else this.lay(seat, card);
      this.at += 1;
    }
    if (!this.ended) this.settle();
  }

  /**
   * The seat's cards that may be laid now.
   * @returns {number[]}
   */
  fitting() {
    return this.view.hand.filter((card) => pip(card) <= MOST - this.count);
  }

  /**
   * It is the view's seat's turn: so the other has passed, although the view does not say so.
   */
  giveTurn() {
    const { seat, earlier, plays } = this.view;
    this.at = plays.length;
    if (this.ended || this.toAct === seat) return;
    if (this.series.length === 0) {
      // Who leads depends on cards that the view does not have.
      if (earlier.some((cards) => cards > 0) && plays.length === 0) this.toAct = seat;
    } else if (this.fitting().length > 0 && !this.gone[seat]) {
      this.takeTurn(seat);
    } else if (this.gone[seat] && this.nextLeader() === seat) {
      if (this.held[this.last] > 0) this.checkRoom(this.last);
      this.close("it is your turn");
    }
  }

  /**
   * @private
   * @param {number} seat
   * @param {number} card
   */
  lay(seat, card) {
    const name = NAMES[card];
    if (this.ended) throw invalidView(`seat ${seat} lays ${name} after the play has ended`);
    if (this.held[seat] === 0) throw invalidView(`seat ${seat} lays ${name} but has no card left`);
    const made = this.count + pip(card);
    if (made > MOST) {
      this.close(
        `seat ${seat} lays ${name} on a count of ${this.count}, which makes ${made}, past ${MOST}`,
      );
    }
    if (this.series.length > 0) {
      if (this.gone[seat]) {
        throw invalidView(`seat ${seat} said go but then lays ${name} on that series`);
      }
      this.takeTurn(seat);
    } else if (seat !== this.toAct && !(this.at === 0 && this.view.earlier.length > 0)) {
      throw invalidView(`seat ${seat} leads ${name}, but seat ${this.toAct} leads`);
    }
    this.count += pip(card);
    this.series.push(card);
    this.last = seat;
    this.laid += 1;
    this.held[seat] -= 1;
    this.remember(seat, card);
    if (this.count === MOST || this.nextLeader() < 0) this.endSeries();
    else this.toAct = 1 - seat;
  }

  /**
   * @private
   * @param {number} seat
   */
  go(seat) {
    if (this.held[seat] === 0 || this.gone[seat]) return;
    if (this.series.length === 0) {
      // Some front ends log the go of the seat that played last as well, after the reset.
      if (this.at > 0 && this.view.plays[this.at - 1].card === null) return;
      throw invalidView(`seat ${seat} says go on an empty count`);
    }
    if (seat === this.last) {
      this.close(`seat ${seat} says go on a count of ${this.count}`);
      return;
    }
    this.checkStuck(seat);
    if (this.count < ALL_FIT) {
      throw invalidView(
        `seat ${seat} says go on a count of ${this.count}, where every card fits`,
      );
    }
    this.toAct = seat;
    this.sayGo(seat);
  }

  /**
   * The seat goes on with the series. Where it laid the last card too, the other has passed.
   * @private
   * @param {number} seat
   */
  takeTurn(seat) {
    if (seat === this.last) this.mustGo(1 - seat);
    this.toAct = seat;
  }

  /**
   * @private
   * @param {number} seat
   */
  mustGo(seat) {
    if (this.held[seat] === 0 || this.gone[seat]) return;
    this.checkRoom(seat);
    this.sayGo(seat);
  }

  /**
   * @private
   * @param {number} seat
   */
  sayGo(seat) {
    this.checkStuck(seat);
    this.gone[seat] = true;
    this.remember(seat, null);
  }

  /**
   * No go is inferred where every card fits. One that the view tells of is believed at 21.
   * @private
   * @param {number} seat
   */
  checkRoom(seat) {
    if (this.count <= ALL_FIT) {
      throw invalidView(`seat ${seat} cannot have passed on a count of ${this.count}`);
    }
  }

  /**
   * A seat that passes may not hold a card that fits, as far as the view tells.
   * @private
   * @param {number} seat
   */
  checkStuck(seat) {
    const { view } = this;
    const later = view.plays.slice(this.at).filter((entry) => entry.seat === seat);
    const known = [...later.map((entry) => entry.card), ...(seat === view.seat ? view.hand : [])];
    const fits = known.find((card) => card !== null && pip(card) <= MOST - this.count);
    if (fits != null) {
      throw invalidView(
        `seat ${seat} passed on a count of ${this.count} but held ${NAMES[fits]}, ` +
          "which could be played",
      );
    }
  }

  /**
   * The series is over although the count is below 31: nobody could play.
   * @private
   * @param {string} because
   */
  close(because) {
    try {
      this.mustGo(1 - this.last);
      if (this.held[this.last] > 0) this.checkStuck(this.last);
    } catch (error) {
      if (error instanceof QuestionError) throw invalidView(`${because}, but ${error.message}`);
      throw error;
    }
    this.closeSeries();
  }

  /** @private */
  closeSeries() {
    if (this.held[this.last] > 0) this.remember(this.last, null);
    this.endSeries();
  }

  /** @private */
  endSeries() {
    const leader = this.nextLeader();
    this.count = 0;
    this.series = [];
    this.gone = [false, false];
    if (leader < 0) this.ended = true;
    else this.toAct = leader;
  }

  /**
   * Who leads the next series; -1 when nobody holds a card.
   * @private
   */
  nextLeader() {
    if (this.held[1 - this.last] > 0) return 1 - this.last;
    return this.held[this.last] > 0 ? this.last : -1;
  }

  /**
   * After the last entry: whose turn it is, as far as this seat can tell.
   * @private
   */
  settle() {
    if (this.series.length === 0) return;
    for (const seat of [1 - this.last, this.last]) {
      if (this.held[seat] === 0 || this.gone[seat]) continue;
      if (seat !== this.view.seat || this.fitting().length > 0) {
        this.toAct = seat;
        return;
      }
      if (seat !== this.last) this.sayGo(seat);
    }
    this.closeSeries();
  }

  /**
   * @private
   * @param {number} seat
   * @param {number | null} card
   */
  remember(seat, card) {
    this.history.push({ seat, card, laid: this.laid, count: this.count });
  }
}
