import classes from './tiles.module.css';

export function EmptyTile() {
  return (
    <div className={classes.center}>
      <p className={classes.quiet}>No data in this time range</p>
    </div>
  );
}
