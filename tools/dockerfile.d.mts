export interface Stage {
  name: string;
  base: string;
  instructions: { keyword: string; text: string }[];
}
export function readStages(path?: string): Stage[];
export function readVariables(stage: Stage): Record<string, string>;
export function readWords(stage: Stage, keyword: string): string[];
