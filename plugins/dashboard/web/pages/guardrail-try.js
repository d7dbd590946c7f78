import { useState } from 'preact/hooks'
import { html } from '../html.js'
import { column, State, state } from '../parts/columns.js'
import { Head } from '../parts/head.js'
import { OperationForm } from '../parts/operation-form.js'
import { Table } from '../parts/table.js'
import { tabs } from './guardrails.js'

const columns = [
  column('Rule', 'rule_name'),
  column('Type', 'rule_type'),
  state('Action', 'action'),
  column('Match', 'match'),
]

/** Tries the rules on a text. No provider is called. */
export function GuardrailTry() {
  const [found, setFound] = useState(/** @type {any} */ (undefined))
  return html`
    <${Head} title="Try guardrails" tabs=${tabs} at="/guardrails/try" />
    <${OperationForm} operation="POST /api/guardrails/test" fields=${['text', 'direction', 'target', 'project']} without=${['rules']} submit="Try" done=${setFound} />
    ${
      found &&
      html`
        <section role="status">
          <h2>What becomes of it</h2>
          <p><${State} of=${found.verdict} /></p>
          <pre tabindex="0">${found.output}</pre>
          ${found.matches.length > 0 && html`<${Table} label="Matches" columns=${columns} rows=${found.matches} keyOf=${(/** @type {any} */ row) => `${row.rule_id} ${row.start}`} />`}
        </section>
      `
    }
  `
}
