import { Button, Text } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { formatError } from '../../api/errors.ts';
import classes from './part-boundary.module.css';

interface Props {
  /** A part that failed is rendered again when this changes. Default: whenever the page is rendered. */
  resetKey?: unknown;
  /** Around the notice, such as a row of a table. */
  frame?: (notice: ReactNode) => ReactNode;
  children: ReactNode;
}

interface State {
  error: unknown;
  hasFailed: boolean;
  resetKey: unknown;
}

/** After an upgrade of the server, the old scripts are gone; reloading the page loads the new ones. */
export const isStaleScript = (error: unknown): boolean =>
  /dynamically imported module|module script/i.test(formatError(error));

const getResetKey = ({ resetKey, children }: Props): unknown => (resetKey === undefined ? children : resetKey);

/** A part that cannot be rendered shows a notice; the rest of the page stays. */
export class PartBoundary extends Component<Props, State> {
  override state: State = { error: undefined, hasFailed: false, resetKey: getResetKey(this.props) };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error, hasFailed: true };
  }

  static getDerivedStateFromProps(props: Props, state: State): State | null {
    const resetKey = getResetKey(props);
    return Object.is(resetKey, state.resetKey) ? null : { error: undefined, hasFailed: false, resetKey };
  }

  override render(): ReactNode {
    const { children, frame } = this.props;
    const { error, hasFailed } = this.state;
    if (!hasFailed) return children;
    const isStale = isStaleScript(error);
    const notice = (
      <div className={classes.notice} role="alert" data-testid="part-error">
        <Text size="sm">
          {isStale ? 'A new version of the console is available.' : `This cannot be shown: ${formatError(error)}`}
        </Text>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => (isStale ? window.location.reload() : this.setState({ error: undefined, hasFailed: false }))}
        >
          {isStale ? 'Reload the page' : 'Try again'}
        </Button>
      </div>
    );
    return frame ? frame(notice) : notice;
  }
}
