import classes from './tiles.module.css';

export function EmptyTile() {
  return (
    <div className={classes.centre}>
      <p className={classes.quiet}>Nothing in this range</p>
    </div>
  );
}
