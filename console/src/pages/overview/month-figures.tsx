import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { forecastQuery } from '../../api/forecast-queries.ts';
import type { UsageCostForecastGetResult } from '../../api/generated.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { Credits } from '../../parts/costs/credits.tsx';
import { formatBillMonth, formatCredits, formatPercentChange } from '../../parts/format/format.ts';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import classes from './month-figures.module.css';

export function MonthFigures() {
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error, refetch } = useQuery(forecastQuery(api, organizationId));
  if (error && !data)
    return <ErrorNotice error={error} title="Could not load this month's costs" retry={() => refetch()} />;
  return (
    <dl className={classes.figures}>
      <Figure label="Month to date" hint={data && formatBillMonth(data.month)}>
        {data && <Credits chc={data.monthToDate.totalCHC} />}
      </Figure>
      <Figure label="Month-end forecast" hint={data && formatForecastRange(data)}>
        {data && <Credits chc={data.forecast.expectedCHC} />}
      </Figure>
      <Figure
        label="Compared with last month"
        hint={data && `Last month: ${formatCredits(data.previousMonth.totalCHC)} CHC`}
      >
        {data && <Change percent={data.changePercent} />}
      </Figure>
    </dl>
  );
}

const formatForecastRange = ({ forecast: { lowCHC, highCHC } }: UsageCostForecastGetResult): string =>
  `Likely range: ${formatCredits(lowCHC)} – ${formatCredits(highCHC)}`;

/** Keeps its height while it loads. */
function Figure({ label, hint, children }: { label: string; hint: string | undefined; children: ReactNode }) {
  return (
    <div className={classes.figure}>
      <dt className={classes.label}>{label}</dt>
      <dd className={classes.value}>{children ?? <Skeleton height={26} width={150} my={5} />}</dd>
      <dd className={classes.hint}>{hint ?? <Skeleton height={12} width={110} my={4} />}</dd>
    </div>
  );
}

/** Compares the forecast with the previous month, so that both are whole months. */
function Change({ percent }: { percent: number | undefined }) {
  if (percent === undefined) return <span>–</span>;
  return <span className="ph-number">{formatPercentChange(percent)}</span>;
}
