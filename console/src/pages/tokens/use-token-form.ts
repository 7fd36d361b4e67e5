import { type UseMutationResult, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { ApiError, findOtherErrors } from '../../api/errors.ts';
import { useSession } from '../../app/context.tsx';
import { findExpiryError, type TokenDraft } from './token-draft.ts';

const FIELDS = ['name', 'access', 'expireAt'];

type Save = Pick<UseMutationResult<unknown, unknown, TokenDraft>, 'error' | 'reset' | 'mutate'>;

/** Draft, errors and submission of the form for a token. */
export function useTokenForm(initial: TokenDraft, save: Save) {
  const [draft, setDraft] = useState(initial);
  const [wasSubmitted, setWasSubmitted] = useState(false);
  const expiryError = findExpiryError(draft, new Date());
  // An ended session shows the sign-in dialog instead.
  const error = save.error instanceof ApiError && save.error.status === 401 ? undefined : save.error;
  return {
    fields: {
      draft,
      error,
      expiryError: wasSubmitted ? expiryError : undefined,
      onChange(part: Partial<TokenDraft>) {
        save.reset();
        setDraft((before) => ({ ...before, ...part }));
      },
    },
    general: findOtherErrors(error, FIELDS),
    submit(event: SubmitEvent) {
      event.preventDefault();
      setWasSubmitted(true);
      if (expiryError === undefined) save.mutate(draft);
    },
  };
}

/** Reloads everything that shows tokens. */
export function useTokenRefresh(): () => void {
  const { organizationId } = useSession();
  const queries = useQueryClient();
  return () => void queries.invalidateQueries({ queryKey: [organizationId] });
}
