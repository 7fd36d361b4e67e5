import Type from 'typebox';
import { ADMINS } from '../kernel/access/roles.ts';
import { getActor } from '../management/audit/request-actor.ts';
import { MemberPath } from '../management/members/schema.ts';
import { getIdentity } from '../platform/http/guard.ts';
import type { Routes } from '../platform/http/requests/validation.ts';
import {
  emptyManagementResponse,
  emptySuccess,
  managementResponse,
  success,
} from '../platform/http/responses/envelopes.ts';
import { MemberSessionPath, SessionSummary, toSessionSummary } from './schema.ts';
import type { SessionLists } from './session-lists.ts';

const tags = ['Members'];

/** The sessions of a member, for administrators. */
export function memberSessionRoutes({ sessionLists }: { sessionLists: SessionLists }): Routes {
  return (app) => {
    app.get(
      '/v1/organizations/:organizationId/members/:userId/sessions',
      {
        config: { operation: 'memberSessionGetList', roles: ADMINS },
        schema: {
          tags,
          summary: 'List sessions of a member',
          description: 'The open console sessions of the member in this organization, newest first.',
          params: MemberPath,
          response: managementResponse(Type.Array(SessionSummary)),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const sessions = await sessionLists.listForMember(organizationId, request.params.userId.toLowerCase());
        return success(request, sessions.map(toSessionSummary));
      },
    );

    app.delete(
      '/v1/organizations/:organizationId/members/:userId/sessions',
      {
        config: { operation: 'memberSessionsDelete', roles: ADMINS },
        schema: {
          tags,
          summary: 'End all sessions of a member',
          description: 'They are rejected from the next request on. The member can sign in again.',
          params: MemberPath,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        await sessionLists.endForMember(getActor(request), organizationId, request.params.userId.toLowerCase());
        return emptySuccess(request);
      },
    );

    app.delete(
      '/v1/organizations/:organizationId/members/:userId/sessions/:sessionId',
      {
        config: { operation: 'memberSessionDelete', roles: ADMINS },
        schema: {
          tags,
          summary: 'End a session of a member',
          params: MemberSessionPath,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const { userId, sessionId } = request.params;
        await sessionLists.endForMember(
          getActor(request),
          organizationId,
          userId.toLowerCase(),
          sessionId.toLowerCase(),
        );
        return emptySuccess(request);
      },
    );
  };
}
