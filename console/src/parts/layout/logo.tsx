import address from '../../logo.svg';

/** Decorative: the product name is next to it or in the surrounding link. */
export function Logo({ size = 28 }: { size?: number }) {
  return <img src={address} width={size} height={size} alt="" />;
}
