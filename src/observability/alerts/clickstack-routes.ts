import type { Clock } from '../../kernel/time/clock.ts';
import { getActor } from '../../management/audit/request-actor.ts';
import { ServicePath } from '../../management/services/schema.ts';
import type { Services } from '../../management/services/services.ts';
import { clickStackResource } from '../../platform/http/requests/clickstack-resource.ts';
import { createAlertEtag, toAlertRecord } from './alert.ts';
import { AlertBody, AlertRecord } from './alert-schema.ts';
import type { Alerts } from './alerts.ts';

export const clickStackAlertRoutes = ({
  alerts,
  clock,
  services,
}: {
  alerts: Alerts;
  clock: Clock;
  services: Services;
}) =>
  clickStackResource({
    ...alerts,
    management: { services, servicePath: ServicePath, getActor },
    plural: 'alerts',
    singular: 'alert',
    body: AlertBody,
    record: AlertRecord,
    descriptions: {
      list: 'The alerts of the organization, ordered by id.',
      update: 'What omitted members mean is the same as for PUT /api/v2/alerts.',
    },
    createEtag: createAlertEtag,
    toRecord: (alert) => toAlertRecord(alert, clock.now()),
  });
