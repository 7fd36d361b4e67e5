import type { Engine, Limits, Statement } from '../engine/engine.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';

/** An answer is this old at most. Long enough for the tiles and people that ask the same at the same time. */
const KEPT_MS = 5000;
const KEPT_CELLS = 500_000;
/** Of one token at the same time; further ones wait. */
const RUNNING = 6;
const WAITING = 100;

/** Who asks, and the signal that they no longer do. */
export interface Asker {
  credentialId: string;
  signal?: AbortSignal | undefined;
}

interface Flight {
  rows: Promise<unknown[][]>;
  askers: number;
  abandon(): void;
}

export type SharedQueries = ReturnType<typeof createSharedQueries>;

/**
 * The same question, asked again while it is being answered or shortly afterwards, gets the same answer from one
 * execution. The organization is one of a statement's parameters, so no two of them ever share one.
 */
export function createSharedQueries({ engine, clock, limits }: { engine: Engine; clock: Clock; limits: Limits }) {
  const flights = new Map<string, Flight>();
  const kept = new Map<string, { rows: unknown[][]; untilMs: number; cells: number }>();
  const turns = new Map<string, { running: number; waiting: (() => void)[] }>();
  let keptCells = 0;

  function forget(id: string): void {
    keptCells -= kept.get(id)?.cells ?? 0;
    kept.delete(id);
  }

  function keep(id: string, rows: unknown[][]): void {
    const cells = rows.length * (rows[0]?.length ?? 0) + 1;
    if (cells > KEPT_CELLS / 10) return;
    forget(id);
    kept.set(id, { rows, untilMs: clock.now() + KEPT_MS, cells });
    keptCells += cells;
    for (const [oldest, { untilMs }] of kept) {
      if (keptCells <= KEPT_CELLS && untilMs > clock.now()) break;
      forget(oldest);
    }
  }

  /** One place among the token's running queries. */
  async function takeTurn({ credentialId, signal }: Asker): Promise<() => void> {
    const turn = turns.get(credentialId) ?? { running: 0, waiting: [] };
    turns.set(credentialId, turn);
    if (turn.running >= RUNNING) {
      if (turn.waiting.length >= WAITING)
        throw new AppError('too_many_requests', `${RUNNING} queries of this token run and ${WAITING} wait already`, {
          retryAfterSeconds: 1,
        });
      await new Promise<void>((resolve) => turn.waiting.push(resolve));
    } else turn.running++;
    const done = () => {
      const next = turn.waiting.shift();
      if (next) next();
      else if (--turn.running === 0) turns.delete(credentialId);
    };
    if (signal?.aborted) {
      done();
      throw abandoned();
    }
    return done;
  }

  function start(id: string, statement: Statement, allowed: Limits): Flight {
    const controller = new AbortController();
    const rows = engine.query(statement, { limits: allowed, signal: controller.signal });
    const flight: Flight = { rows, askers: 0, abandon: () => controller.abort() };
    flights.set(id, flight);
    const land = () => {
      if (flights.get(id) === flight) flights.delete(id);
    };
    rows.then(
      (answer) => {
        land();
        keep(id, answer);
      },
      () => land(),
    );
    return flight;
  }

  /** The last one who waits and leaves takes the query along. */
  async function join(flight: Flight, id: string, signal: AbortSignal | undefined): Promise<unknown[][]> {
    flight.askers++;
    const leave = () => {
      if (--flight.askers > 0) return;
      if (flights.get(id) === flight) flights.delete(id);
      flight.abandon();
    };
    if (!signal) return flight.rows;
    return new Promise<unknown[][]>((resolve, reject) => {
      const onAbort = () => {
        leave();
        reject(abandoned());
      };
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      flight.rows.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });
  }

  return {
    async query(statement: Statement, asker: Asker, allowed = limits): Promise<unknown[][]> {
      const id = JSON.stringify(statement);
      const known = kept.get(id);
      if (known && known.untilMs > clock.now()) return known.rows;
      const done = await takeTurn(asker);
      try {
        return await join(flights.get(id) ?? start(id, statement, allowed), id, asker.signal);
      } finally {
        done();
      }
    },
  };
}

const abandoned = (): AppError => new AppError('request_timeout', 'The client went away before the answer was there');
