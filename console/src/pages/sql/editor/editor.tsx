import type { CompletionSource } from '@codemirror/autocomplete';
import type { EditorView } from '@codemirror/view';
import { type RefObject, useEffect, useImperativeHandle, useRef } from 'react';
import { findStatement, type Statement, splitStatements } from '../statements.ts';
import { createEditor, markError } from './create-editor.ts';
import classes from './editor.module.css';

export interface EditorHandle {
  /** The statements of the selection, or of the whole text; with `statement`, the one at the cursor. */
  listStatements: (scope: 'all' | 'statement') => Statement[];
  replace: (text: string) => void;
  /** Inserts at the cursor. */
  insert: (text: string) => void;
  markError: (at: number | undefined, message: string) => void;
}

interface Props {
  handle: RefObject<EditorHandle | null>;
  initialText: string;
  sources: readonly [CompletionSource, CompletionSource];
  onChange: (text: string) => void;
  onRun: (scope: 'all' | 'statement') => void;
}

export function Editor({ handle, initialText, sources, onChange, onRun }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef({ sources, onChange, onRun });
  latest.current = { sources, onChange, onRun };
  // The text belongs to the editor once it exists.
  const firstText = useRef(initialText);

  useEffect(() => {
    if (!element.current) return undefined;
    const created = createEditor({
      parent: element.current,
      text: firstText.current,
      sources: [(context) => latest.current.sources[0](context), (context) => latest.current.sources[1](context)],
      onChange: (text) => latest.current.onChange(text),
      onRun: (scope) => latest.current.onRun(scope),
    });
    view.current = created;
    return () => created.destroy();
  }, []);

  useImperativeHandle(handle, () => ({
    listStatements(scope) {
      if (!view.current) return [];
      const { doc, selection } = view.current.state;
      const { from, to, head } = selection.main;
      const text = doc.toString();
      if (scope === 'statement') return [findStatement(text, head) ?? []].flat();
      if (from === to) return splitStatements(text);
      return splitStatements(text.slice(from, to)).map((one) => ({ ...one, from: one.from + from, to: one.to + from }));
    },
    replace(text) {
      view.current?.dispatch({ changes: { from: 0, to: view.current.state.doc.length, insert: text } });
      view.current?.focus();
    },
    insert(text) {
      if (!view.current) return;
      view.current.dispatch(view.current.state.replaceSelection(text));
      view.current.focus();
    },
    markError(at, message) {
      if (view.current) markError(view.current, at, message);
    },
  }));
  return <div ref={element} className={classes.editor} data-testid="sql-editor" />;
}
