import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type Outlook, outlookQuery } from '../../api/outlook.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { Credits } from '../../parts/credits.tsx';
import { Failure } from '../../parts/failure.tsx';
import { formatBillMonth, formatCredits } from '../../parts/format.ts';
import { useNow } from '../../parts/moment.tsx';
import classes from './month-figures.module.css';

export function MonthFigures() {
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error, refetch } = useQuery(outlookQuery(api, organizationId, useNow()));
  if (error && !data)
    return <Failure error={error} title="The costs of this month are missing" retry={() => refetch()} />;
  return (
    <dl className={classes.figures}>
      <Figure label="Month to date" hint={data && formatBillMonth(data.month)}>
        {data && <Credits chc={data.monthToDateCHC} />}
      </Figure>
      <Figure label="Forecast for the month" hint={data && rangeOf(data)}>
        {data && <Credits chc={data.expectedCHC} />}
      </Figure>
      <Figure label="Against last month" hint={data && `Last month ${formatCredits(data.previousMonthCHC)} CHC`}>
        {data && <Change outlook={data} />}
      </Figure>
    </dl>
  );
}

const rangeOf = ({ range }: Outlook): string =>
  range ? `Likely ${formatCredits(range.lowCHC)} to ${formatCredits(range.highCHC)}` : 'If the days go on as they did';

/** A number's place is kept while it loads. */
function Figure({ label, hint, children }: { label: string; hint: string | undefined; children: ReactNode }) {
  return (
    <div className={classes.figure}>
      <dt className={classes.label}>{label}</dt>
      <dd className={classes.value}>{children ?? <Skeleton height={26} width={150} my={5} />}</dd>
      <dd className={classes.hint}>{hint ?? <Skeleton height={12} width={110} my={4} />}</dd>
    </div>
  );
}

/** The forecast beside the month before: two whole months, not a part of one with all of the other. */
function Change({ outlook: { expectedCHC, previousMonthCHC } }: { outlook: Outlook }) {
  if (previousMonthCHC === 0) return <span>–</span>;
  const percent = ((expectedCHC - previousMonthCHC) / previousMonthCHC) * 100;
  const isUp = percent >= 0.05;
  const isDown = percent <= -0.05;
  return (
    <span className="ph-number" data-testid="change">
      {isUp ? '+' : isDown ? '−' : '±'}
      {Math.abs(percent).toFixed(1)} %
    </span>
  );
}
