import { useCallback, useEffect, useReducer, useRef } from 'react';
import { formatError } from '../../api/errors.ts';
import { useApi, useDependencies, useSession } from '../../app/context.tsx';
import { createReceived, type Received, readResult } from './result/result-stream.ts';
import type { Command } from './statements.ts';

export type Access = 'read' | 'write';

interface RunOptions {
  access: Access;
  database: string;
  parameters: Record<string, string>;
  maxRows: number;
}

export interface Run extends Command, RunOptions {
  id: string;
  status: 'running' | 'done' | 'failed' | 'canceled';
  startedAt: number;
  elapsedMs: number;
  received: Received;
}

interface Runs {
  runs: readonly Run[];
  isRunning: boolean;
  start: (commands: readonly Command[], options: RunOptions) => void;
  cancel: () => void;
}

/** How often the time is shown while nothing arrives. */
const TICK_MS = 250;

/** Runs statements of a service one after the other, until one fails. Leaving the page stops them. */
export function useRuns(serviceId: string, onEnd: (run: Run) => void): Runs {
  const { base, sessions } = useDependencies();
  const api = useApi();
  const { organizationId } = useSession();
  const [, render] = useReducer((count: number) => count + 1, 0);
  const runs = useRef<Run[]>([]);
  const controller = useRef<AbortController>(undefined);
  const ended = useRef(onEnd);
  ended.current = onEnd;

  const runOne = useCallback(
    async (command: Command, options: RunOptions, signal: AbortSignal): Promise<Run> => {
      const { access, database, parameters, maxRows } = options;
      const run: Run = {
        ...command,
        ...options,
        id: createId(),
        status: 'running',
        startedAt: Date.now(),
        elapsedMs: 0,
        received: createReceived(),
      };
      runs.current = [...runs.current, run];
      let frame = 0;
      // At most once per frame: a result has thousands of parts.
      const show = () => {
        frame ||= requestAnimationFrame(() => {
          frame = 0;
          run.elapsedMs = Date.now() - run.startedAt;
          render();
        });
      };
      const timer = setInterval(show, TICK_MS);
      show();
      try {
        await readResult(
          {
            base,
            sessions,
            path: `/v1/organizations/${organizationId}/services/${serviceId}/sql/${access}`,
            body: {
              sql: command.sql,
              database,
              ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
              queryId: run.id,
              maxRows,
            },
            signal,
          },
          run.received,
          show,
        );
        run.status = run.received.error ? 'failed' : 'done';
      } catch (error) {
        run.status = signal.aborted ? 'canceled' : 'failed';
        if (!signal.aborted) run.received.error = { message: formatError(error), name: undefined, position: undefined };
      }
      clearInterval(timer);
      cancelAnimationFrame(frame);
      run.elapsedMs = Date.now() - run.startedAt;
      run.received.isWaking = false;
      return run;
    },
    [base, sessions, organizationId, serviceId],
  );

  const start = useCallback(
    (commands: readonly Command[], options: RunOptions) => {
      controller.current?.abort();
      controller.current = new AbortController();
      const { signal } = controller.current;
      runs.current = [];
      void (async () => {
        for (const command of commands) {
          const run = await runOne(command, options, signal);
          if (signal.aborted && runs.current.at(-1) !== run) return;
          render();
          ended.current(run);
          if (run.status !== 'done') return;
        }
      })();
    },
    [runOne],
  );

  const cancel = useCallback(() => {
    const queryId = runs.current.at(-1)?.id;
    controller.current?.abort();
    // The server also stops a query whose client has gone; a proxy in between may hide that.
    if (queryId) void api.sqlCancel({ organizationId, serviceId, queryId }).catch(() => undefined);
  }, [api, organizationId, serviceId]);

  useEffect(() => () => controller.current?.abort(), []);
  return { runs: runs.current, isRunning: runs.current.at(-1)?.status === 'running', start, cancel };
}

/** A UUID. `crypto.randomUUID` exists only on pages with HTTPS. */
function createId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = [...bytes].map((byte, index) =>
    (index === 6 ? (byte & 0x0f) | 0x40 : index === 8 ? (byte & 0x3f) | 0x80 : byte).toString(16).padStart(2, '0'),
  );
  return hex.join('').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
