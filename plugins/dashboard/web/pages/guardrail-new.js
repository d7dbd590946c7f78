import { html } from '../html.js'
import { useLoad } from '../load.js'
import { Head } from '../parts/head.js'
import { Loads } from '../parts/notice.js'
import { OperationForm } from '../parts/operation-form.js'
import { Past, usePast } from '../parts/past.js'
import { go, Link } from '../router.js'
import { labelOf } from '../text.js'

export const fields = /** @type {const} */ ([
  'name',
  'preset',
  'pattern',
  'words',
  'type',
  'action',
  'direction',
  'severity',
  'mode',
])

/**
 * A form for a new rule, which a ready-made pattern can fill in.
 * @param {{ query: Record<string, string> }} props
 */
export function NewGuardrail({ query: { preset } }) {
  const presets = useLoad('/api/guardrails/presets')
  const past = usePast()
  return html`
    <${Head} title="New rule" trail=${[['/guardrails', 'Guardrails']]} />
    <${Loads} of=${presets}>
      ${(/** @type {any} */ data) => {
        const chosen = data.presets.find((/** @type {any} */ { name }) => name === preset)
        return html`
          <p>Begin with a ready-made pattern:</p>
          <ul class="chips">
            ${data.presets.map(
              (/** @type {any} */ { name, description }) => html`
                <li key=${name}><${Link} to="/guardrails/new" query=${{ preset: name }} current=${name === preset} title=${description}>${labelOf(name)}<//></li>
              `,
            )}
          </ul>
          ${chosen && html`<p class="hint">${chosen.description} <code>${chosen.pattern}</code></p>`}
          <${OperationForm}
            key=${preset ?? ''}
            operation="POST /api/guardrails"
            fields=${fields}
            values=${chosen ? { name: labelOf(chosen.name), preset: chosen.name, type: chosen.type } : {}}
            submit="Add"
            also=${{ title: 'Test on past calls', act: (/** @type {any} */ rule) => past.test({ rules: [rule] }) }}
            done=${(/** @type {any} */ rule) => go(`/guardrails/${rule.id}`)}
          />
        `
      }}
    <//>
    <${Past} found=${past.found} />
  `
}
