import { AppError } from '../../kernel/errors.ts';
import { limitTime } from '../../kernel/tasks/time-limit.ts';
import { SECOND_MS, systemClock } from '../../kernel/time/clock.ts';
import { createKubernetesDriver } from '../../running/drivers/kubernetes/kubernetes-driver.ts';
import { toDesired, toDrivenService } from '../../running/reconciliation/desired.ts';
import { STORE_SETTINGS } from '../../server/settings/settings.ts';
import { defineCommand } from '../command.ts';
import { jsonOption, organizationOption } from '../parameters.ts';
import { getService, serviceArgument } from './services.ts';

const PLAN_MS = 30 * SECOND_MS;

export const planService = defineCommand({
  name: 'service plan',
  summary: 'Print what would change in the cluster for a service on Kubernetes; changes nothing',
  settings: [...STORE_SETTINGS, 'kubeconfig'],
  arguments: { service: serviceArgument },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withOrganization, readConfig, arguments: { service: wanted } }) =>
    withOrganization(async (organization, domains) => {
      const service = await getService(organization, domains, wanted);
      if (service.driver !== 'kubernetes')
        throw new AppError('conflict', `${service.name} has the driver ${service.driver}; only kubernetes has a plan`);
      const driver = createKubernetesDriver({
        kubeconfig: readConfig().kubeconfig,
        readControlPlaneId: domains.drivenServices.readControlPlaneId,
        log: { info() {} },
      });
      const desired = toDesired(service, systemClock.now());
      const plan = await driver.plan(toDrivenService(service), desired, limitTime(PLAN_MS));
      const lines = plan.differences.map(({ member, before, after }) => `${member}: ${before ?? 'not set'} → ${after}`);
      return { json: plan, lines: lines.length > 0 ? lines : ['Nothing would change.'] };
    }),
});
