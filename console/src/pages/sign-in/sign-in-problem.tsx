import { Note } from '../../parts/layout/note.tsx';

const SENTENCES: Record<string, string> = {
  'no-provider': 'This server has no identity provider. Sign in another way.',
  'provider-unavailable': 'The identity provider cannot be reached. Try again in a moment.',
  denied: 'The identity provider did not allow this sign-in.',
  expired: 'This sign-in took too long or was already used. Sign in again.',
  'invalid-response': 'The response of the identity provider was not accepted. Sign in again.',
  'not-fresh':
    'The identity provider did not ask you to sign in again, or does not send when you did (auth_time), so the change was not allowed.',
  'too-many-attempts': 'There were too many attempts from your address. Try again in a few minutes.',
};
const OTHER = 'The sign-in failed. Try again.';

/** Why a sign-in with the identity provider failed. */
export function SignInProblem({ problem, account }: { problem: string; account: string | undefined }) {
  return (
    <Note tone="bad">
      {problem === 'not-a-member' ? (
        <>
          {account ? <b>{account}</b> : 'Your account'} is not a member of an organization here. Ask an administrator
          for an invitation, or to be added to a group that has access.
        </>
      ) : (
        (SENTENCES[problem] ?? OTHER)
      )}
    </Note>
  );
}
