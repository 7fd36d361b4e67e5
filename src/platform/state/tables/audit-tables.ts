/** What becomes one activity when its hour has ended. */
export interface HourlyCountRow {
  organization_id: string;
  type: string;
  subject_id: string;
  hour: number;
  document: string;
}
