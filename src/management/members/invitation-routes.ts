import Type from 'typebox';
import { ADMINS, READERS } from '../../kernel/access/roles.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import { keepResponse } from '../../platform/http/requests/idempotency.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import {
  emptyManagementResponse,
  emptySuccess,
  managementResponse,
  success,
} from '../../platform/http/responses/envelopes.ts';
import { getActor, getCaller } from '../audit/request-actor.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import type { SendInvitation } from './invitation-mail.ts';
import type { Invitations } from './invitations.ts';
import {
  CreatedInvitation,
  CreateInvitationBody,
  InvitationPath,
  InvitationRecord,
  toInvitationRecord,
  toRoleChoice,
} from './schema.ts';

const tags = ['Members'];

interface Options {
  invitations: Invitations;
  sendInvitation: SendInvitation;
}

export function invitationRoutes({ invitations, sendInvitation }: Options): Routes {
  return (app) => {
    // Also of a response that is repeated.
    app.addHook('onSend', async (_request, reply, payload) => {
      reply.header('cache-control', 'no-store');
      return payload;
    });

    app.get(
      '/v1/organizations/:organizationId/invitations',
      {
        config: { operation: 'invitationGetList', roles: READERS },
        schema: {
          tags,
          summary: 'List invitations',
          description: 'Invitations that are still open, oldest first.',
          params: OrganizationPath,
          response: managementResponse(Type.Array(InvitationRecord)),
        },
      },
      async (request) =>
        success(request, (await invitations.list(getIdentity(request).organizationId)).map(toInvitationRecord)),
    );

    app.post(
      '/v1/organizations/:organizationId/invitations',
      {
        config: { operation: 'invitationCreate', roles: ADMINS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Create invitation',
          description:
            'The person joins at the next sign-in with this verified address, or without an identity provider by opening the page of the invitation, which works once. It expires after seven days. Without an identity provider, the link also signs in a member with this address, so inviting one needs the right to manage that member (403).',
          params: OrganizationPath,
          body: CreateInvitationBody,
          response: managementResponse(CreatedInvitation),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const { secret, ...created } = await invitations.create(
          getActor(request),
          organizationId,
          { email: request.body.email, ...toRoleChoice(request.body), caller: getCaller(request) },
          keepResponse(request, (invitation) => ({ result: JSON.stringify(toInvitationRecord(invitation)) })),
        );
        const path = `/invitation#${secret}`;
        const mail = await sendInvitation(created.item, path);
        return success(request, { ...toInvitationRecord(created), path, mail });
      },
    );

    app.get(
      '/v1/organizations/:organizationId/invitations/:invitationId',
      {
        config: { operation: 'invitationGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get invitation',
          params: InvitationPath,
          response: managementResponse(InvitationRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const id = request.params.invitationId.toLowerCase();
        return success(request, toInvitationRecord(await invitations.get(organizationId, id)));
      },
    );

    app.delete(
      '/v1/organizations/:organizationId/invitations/:invitationId',
      {
        config: { operation: 'invitationDelete', roles: ADMINS },
        schema: {
          tags,
          summary: 'Delete invitation',
          description: 'Its link is rejected from then on.',
          params: InvitationPath,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        await invitations.remove(getActor(request), organizationId, request.params.invitationId.toLowerCase());
        return emptySuccess(request);
      },
    );
  };
}
