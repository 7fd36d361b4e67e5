import {
  acceptCompletion,
  autocompletion,
  type CompletionSource,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import { clickHouse, completeKeyword } from './dialect.ts';

interface Options {
  parent: HTMLElement;
  text: string;
  sources: readonly CompletionSource[];
  onChange: (text: string) => void;
  /** Ctrl or Cmd with Enter; with Shift, the statement at the cursor. */
  onRun: (scope: 'all' | 'statement') => void;
}

const BLINK_MS = 1200;
const prefersNoMotion = () => globalThis.matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Colors are in editor.module.css, where they follow the color scheme. */
export function createEditor({ parent, text, sources, onChange, onRun }: Options): EditorView {
  const run = (scope: 'all' | 'statement') => (view: EditorView) => {
    closeCompletion(view);
    onRun(scope);
    return true;
  };
  return new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        highlightActiveLine(),
        highlightSpecialChars(),
        drawSelection({ cursorBlinkRate: prefersNoMotion() ? 0 : BLINK_MS }),
        history(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        clickHouse.extension,
        [completeKeyword, ...sources].map((autocomplete) => clickHouse.language.data.of({ autocomplete })),
        autocompletion({ maxRenderedOptions: 60, icons: false }),
        syntaxHighlighting(classHighlighter),
        placeholder('SELECT …'),
        // Tab moves the focus, as everywhere, unless a completion is open.
        keymap.of([
          { key: 'Mod-Enter', run: run('all') },
          { key: 'Shift-Mod-Enter', run: run('statement') },
          { key: 'Tab', run: acceptCompletion },
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'SQL', spellcheck: 'false', autocapitalize: 'off' }),
        // Also completions that are still being looked for.
        EditorView.domEventHandlers({ blur: (_, view) => void closeCompletion(view) }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
}

/** Marks the word at an offset, until the text changes there. Without an offset, removes the mark. */
export function markError(view: EditorView, at: number | undefined, message: string): void {
  const { doc } = view.state;
  if (at === undefined || at > doc.length) {
    view.dispatch(setDiagnostics(view.state, []));
    return;
  }
  // At the end of the text there is no word: the last character is marked.
  const from = Math.max(0, Math.min(at, doc.length - 1));
  const word = view.state.wordAt(from);
  const to = word && word.to > from ? word.to : Math.min(from + 1, doc.length);
  view.dispatch(setDiagnostics(view.state, [{ from, to, severity: 'error', message }]), {
    effects: EditorView.scrollIntoView(from, { y: 'nearest' }),
  });
}
