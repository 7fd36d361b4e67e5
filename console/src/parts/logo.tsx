import address from '../logo.svg';

/** The wheel. The name stands beside it or in the link around it. */
export function Logo({ size = 28 }: { size?: number }) {
  return <img src={address} width={size} height={size} alt="" />;
}
