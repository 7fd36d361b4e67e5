import { expect, it } from 'vitest';
import { findTemplateViolation, renderTemplate } from './template.ts';

const context = {
  title: 'High "error" rate',
  value: 12.5,
  state: 'ALERT',
  group: undefined,
  none: null,
  labels: { team: 'core', 'k8s.pod.name': 'api-1' },
  attributes: { ServiceName: 'api', nested: { deep: { one: 1 } } },
  rows: [{ body: 'a' }, { body: 'b' }],
  empty: [],
};

it.each([
  ['plain text with } and { braces', 'plain text with } and { braces'],
  ['{{title}} is {{value}}{{group}}{{none}}{{missing.path}}', 'High "error" rate is 12.5'],
  ['{{attributes.nested.deep.one}} {{labels.k8s.pod.name}} {{labels.[k8s.pod.name]}}', '1 api-1 api-1'],
  ['{{{title}}} {{! comment }}{{!-- {{x}} --}}.', 'High "error" rate .'],
  ['{{#if group}}yes{{else}}no{{/if}} {{#unless group}}un{{/unless}} {{#if empty}}full{{/if}}', 'no un '],
  ['{{#if group}}a{{else if (eq state "ALERT")}}b{{else}}c{{/if}}', 'b'],
  ['{{#each rows}}{{@index}}{{body}}{{#unless @last}},{{/unless}}{{else}}none{{/each}}', '0a,1b'],
  [
    '{{#each rows}}{{../value}}{{#with ../attributes}}{{ServiceName}}{{../body}}{{/with}} {{/each}}',
    '12.5apia 12.5apib ',
  ],
  ['{{#each labels}}{{@key}}={{this}};{{/each}}', 'team=core;k8s.pod.name=api-1;'],
  ['{{#each empty}}x{{else}}none{{/each}}{{#each title}}x{{/each}}', 'none'],
  ['{{#with missing}}x{{else}}no{{/with}}', 'no'],
  ['{{#is_match "attributes.ServiceName" "api"}}@webhook-api{{else}}other{{/is_match}}', '@webhook-api'],
  ['{{#is_match "labels.k8s.pod.name" "api-2"}}2{{else}}other{{/is_match}}', 'other'],
  ['{{#if (is_match "value" 12.5)}}same{{/if}} {{eq value 12.5}}', 'same true'],
  ['a\n{{#if state}}\nb {{~ value ~}}  c\n{{/if}}\nd', 'a\nb12.5c\nd'],
  ['{{#each rows}}{{@root.value}}{{@first}} {{/each}}{{rows.length}}', '12.5true 12.5false 2'],
  ['{{labels}}', '{"team":"core","k8s.pod.name":"api-1"}'],
])('%s renders', (template, expected) => {
  expect(findTemplateViolation(template)).toBeUndefined();
  expect(renderTemplate(template, context)).toBe(expected);
});

it('escapes values, not the text of the template', () => {
  const escapeValue = (text: string) => JSON.stringify(text).slice(1, -1);
  expect(renderTemplate('{"a":"{{title}}","b":"{{{title}}}"}', context, { escapeValue })).toBe(
    '{"a":"High \\"error\\" rate","b":"High \\"error\\" rate"}',
  );
});

it.each([
  '{{constructor}}',
  '{{__proto__}}',
  '{{labels.__proto__.polluted}}',
  '{{labels.constructor.constructor}}',
  '{{title.length}}',
  '{{rows.map}}{{rows.constructor}}',
  '{{toString}}{{hasOwnProperty}}{{this.valueOf}}',
  '{{#with __proto__}}{{toString}}{{/with}}',
  '{{#is_match "__proto__" ""}}x{{/is_match}}',
  '{{@root.constructor}}',
  '{{../../value}}',
])('%s reads nothing that is not in the context itself', (template) => {
  expect(renderTemplate(template, context)).toBe('');
});

it.each([
  ['{{> partial}}', 'PartialStatement is not supported'],
  ['{{#> layout}}x{{/layout}}', 'PartialBlockStatement is not supported'],
  ['{{* decorator}}', 'Decorator is not supported'],
  ['{{lookup this "a"}}', '"lookup" is not supported'],
  ['{{#constructor a}}x{{/constructor}}', '"constructor" is not supported'],
  ['text\n  {{#log a}}{{/log}}', '(line 2, column 3)'],
  ['{{#if a b}}x{{/if}}', 'if needs 1 argument (line 1, column 1)'],
  ['{{#each rows as |row|}}x{{/each}}', 'Block parameters are not supported'],
  ['{{#if a=1}}x{{/if}}', 'if has no named arguments'],
  ['{{eq a}}', 'eq needs 2 arguments'],
  ['{{#if a}}x', 'The template is not valid on line 1'],
  ['{{#if a}}x{{/each}}', "if doesn't match each"],
  ['a\nb {{', 'The template is not valid on line 2'],
  ['{{a b c', 'The template is not valid on line 1'],
])('%s is rejected with the rule', (template, rule) => {
  expect(findTemplateViolation(template)).toContain(rule);
  expect(() => renderTemplate(template, context)).toThrow();
});

it.each([
  ['many blocks', '{{#if a}}'.repeat(1000), 'at most 32 nested blocks'],
  ['many parentheses', `{{eq ${'(eq 1 '.repeat(2500)}`, 'at most 8 nested parentheses'],
  ['parentheses without a helper', `{{a ${'('.repeat(16_000)}`, 'at most 8 nested parentheses'],
  ['a long path', `{{${'a.'.repeat(500)}a}}`, 'at most 32 parts'],
  ['a very long path', `{{${'a.'.repeat(8000)}a}}`, 'at most 3000 parts in its tags'],
  ['many tags', '{{a}}'.repeat(1001), 'at most 3000 parts in its tags'],
  ['many else', `{{#if a}}${'{{else if a}}'.repeat(101)}{{/if}}`, 'at most 100 else'],
  ['parents', `{{${'../'.repeat(500)}a}}`, 'at most 32 parts'],
  ['a long template', 'x'.repeat(16_385), 'at most 16384 characters'],
])('%s is rejected', (_, template, rule) => {
  expect(findTemplateViolation(template)).toContain(rule);
});

it.each([
  ['braces in text', '{ } '.repeat(4000)],
  ['comments', `{{!-- ${'{{a}} ( " '.repeat(1000)} --}}${"{{! ' ( }}".repeat(100)}`],
  ['escaped tags', `\\{{ ${'a.b ( '.repeat(1000)}`],
  ['long literals', `{{eq title "${'a.b ( \\" '.repeat(1000)}"}}`],
  ['blocks beside each other', '{{#if a}}{{^}}{{/if}}'.repeat(100)],
])('%s are not counted', (_, template) => {
  expect(findTemplateViolation(template)).toBeUndefined();
});

it('stops loops inside of loops, and long output', () => {
  const list = Array.from({ length: 1000 }, (_, index) => index);
  const nested = '{{#each @root.list}}'.repeat(20) + '{{/each}}'.repeat(20);
  expect(() => renderTemplate(nested, { list })).toThrow('The template needs more than 10000 steps');
  expect(() => renderTemplate('{{#each list}}{{../text}}{{/each}}', { list, text: 'x'.repeat(1000) })).toThrow(
    'The rendered template has more than 65536 characters',
  );
  expect(() => renderTemplate('{{a}}'.repeat(900), { a: 'x'.repeat(16_000) })).toThrow('more than 65536 characters');
  const long = `{{#is_match "${'a.'.repeat(8000)}a" "x"}}y{{/is_match}}`;
  expect(renderTemplate(long, context)).toBe('');
});
