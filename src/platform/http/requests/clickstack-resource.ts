import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static, type TObject, type TSchema } from 'typebox';
import { ADMINS, READERS } from '../../../kernel/access/roles.ts';
import { emptyManagementResponse, emptySuccess, managementResponse, success } from '../responses/envelopes.ts';
import { keepResponse } from './idempotency.ts';
import { IfMatch } from './if-match.ts';
import { ListMeta, ListQuery, readListPage } from './list-page.ts';
import { createOrganizationReader } from './service-organization.ts';
import type { Routes } from './validation.ts';

/** What the platform does not know of services and of the audit log. */
interface Management<A> {
  services: Parameters<typeof createOrganizationReader>[0];
  /** The parameters of the path to a service. */
  servicePath: TObject;
  getActor(request: FastifyRequest): A;
}

interface Resource<A, B extends TSchema, T> {
  management: Management<A>;
  /** As in the path, such as `saved-searches`; the names of operations and parameters follow from it. */
  plural: string;
  /** As in `Get ClickStack saved search`. */
  singular: string;
  body: B;
  record: TSchema;
  descriptions: { list: string; update: string; remove?: string };
  list(organizationId: string, page: { limit: number; offset: number }): Promise<{ list: T[]; total: number }>;
  /** Undefined if the public interface has no such operation. */
  get?(organizationId: string, id: string): Promise<T>;
  create(
    actor: A,
    organizationId: string,
    body: Static<B>,
    inTransaction: ((tx: unknown, created: T) => Promise<void>) | undefined,
  ): Promise<T>;
  replace(actor: A, organizationId: string, id: string, body: Static<B>, ifMatch: string | undefined): Promise<T>;
  remove(actor: A, organizationId: string, id: string, ifMatch: string | undefined): Promise<void>;
  toRecord(item: T, request: object): object;
  createEtag(item: T): string;
}

const tags = ['ClickStack'];

/** `saved searches` becomes `SavedSearches`. */
const toName = (words: string): string => words.replace(/(?:^| )(\w)/g, (_, letter: string) => letter.toUpperCase());

/** What belongs to the organization and not to a service, with the credentials and the envelope of the management interface. */
export function clickStackResource<A, B extends TSchema, T>(resource: Resource<A, B, T>): Routes {
  const { services, servicePath, getActor } = resource.management;
  const { plural, singular, body, record, descriptions, get, toRecord, createEtag } = resource;
  const many = plural.replace('-', ' ');
  const getOrganizationId = createOrganizationReader(services);
  const path = `/v1/organizations/:organizationId/services/:serviceId/clickstack/${plural}`;
  const parameter = `clickStack${toName(singular)}Id`;
  const onePath = `${path}/:${parameter}`;
  const OnePath = Type.Object({ ...servicePath.properties, [parameter]: Type.String() });
  const getId = ({ params }: { params: unknown }): string => (params as Record<string, string>)[parameter] ?? '';

  function send(request: FastifyRequest, reply: object, item: T) {
    (reply as FastifyReply).header('etag', createEtag(item));
    return success(request, toRecord(item, request));
  }

  return (app) => {
    app.get(
      path,
      {
        config: { operation: `clickStackList${toName(many)}`, roles: READERS },
        schema: {
          tags,
          summary: `List ClickStack ${many}`,
          description: descriptions.list,
          params: servicePath,
          querystring: ListQuery,
          response: managementResponse(Type.Array(record), { meta: ListMeta }),
        },
      },
      async (request, reply) => {
        const page = readListPage(request.query);
        const { list, total } = await resource.list(await getOrganizationId(request), page);
        reply.header('x-total-count', total);
        const records = list.map((item) => toRecord(item, request));
        return { ...success(request, records), meta: { total, ...page } };
      },
    );

    if (get)
      app.get(
        onePath,
        {
          config: { operation: `clickStackGet${toName(singular)}`, roles: READERS },
          schema: {
            tags,
            summary: `Get ClickStack ${singular}`,
            params: OnePath,
            response: managementResponse(record),
          },
        },
        async (request, reply) => {
          const organizationId = await getOrganizationId(request);
          return send(request, reply, await get(organizationId, getId(request)));
        },
      );

    app.post(
      path,
      {
        config: { operation: `clickStackCreate${toName(singular)}`, roles: ADMINS, isIdempotent: true },
        schema: {
          tags,
          summary: `Create ClickStack ${singular}`,
          params: servicePath,
          body,
          response: managementResponse(record),
        },
      },
      async (request, reply) => {
        const organizationId = await getOrganizationId(request);
        const inTransaction = keepResponse(request, (created: T) => ({
          result: JSON.stringify(toRecord(created, request)),
          headers: { etag: createEtag(created) },
        }));
        const given = request.body as Static<B>;
        const created = await resource.create(getActor(request), organizationId, given, inTransaction);
        return send(request, reply, created);
      },
    );

    app.put(
      onePath,
      {
        config: { operation: `clickStackUpdate${toName(singular)}`, roles: ADMINS },
        schema: {
          tags,
          summary: `Update ClickStack ${singular}`,
          description: `${descriptions.update} Supports If-Match.`,
          params: OnePath,
          headers: IfMatch,
          body,
          response: managementResponse(record),
        },
      },
      async (request, reply) => {
        const organizationId = await getOrganizationId(request);
        const given = request.body as Static<B>;
        const [actor, id] = [getActor(request), getId(request)];
        const replaced = await resource.replace(actor, organizationId, id, given, request.headers['if-match']);
        return send(request, reply, replaced);
      },
    );

    app.delete(
      onePath,
      {
        config: { operation: `clickStackDelete${toName(singular)}`, roles: ADMINS },
        schema: {
          tags,
          summary: `Delete ClickStack ${singular}`,
          ...(descriptions.remove !== undefined && { description: descriptions.remove }),
          params: OnePath,
          headers: IfMatch,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        const organizationId = await getOrganizationId(request);
        await resource.remove(getActor(request), organizationId, getId(request), request.headers['if-match']);
        return emptySuccess(request);
      },
    );
  };
}
