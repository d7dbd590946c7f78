import { html } from '../html.js'
import { column, plain } from '../parts/columns.js'
import { Detail } from '../parts/detail.js'
import { Table } from '../parts/table.js'
import { Link } from '../router.js'
import { count, duration, none, share, usd } from '../text.js'

/** @type {readonly (readonly [string, string, (value: any) => string])[]} */
const figures = [
  ['Model', 'model', plain],
  ['Provider', 'provider', plain],
  ['Cost', 'cost_usd', usd],
  ['Latency', 'latency_ms', duration],
  ['First token', 'ttft_ms', duration],
  ['Tokens in', 'tokens_in', count],
  ['Tokens out', 'tokens_out', count],
]

const columns = [column('Figure', 'name'), column('The past call', 'left'), column('The replay', 'right')]

/**
 * One replay: both answers side by side, with what differs.
 * @param {{ id: string }} props
 */
export const Replay = ({ id }) => html`
  <${Detail}
    path=${`/api/replay/compare/${encodeURIComponent(id)}`}
    removePath=${`/api/replay/runs/${encodeURIComponent(id)}`}
    up=${['/replays', 'Replays']}
    title=${(/** @type {any} */ { comparison: { left, right } }) => `${left.model} and ${right.model}`}
    facts=${(/** @type {any} */ { winners, quality }) => [
      ['Cheaper', side(winners.cost)],
      ['Faster', side(winners.speed)],
      ['Better', side(winners.quality)],
      ['In all', side(winners.overall)],
      ['Alike', share(quality.similarity)],
    ]}
    remove="Its traces stay."
  >
    ${(/** @type {any} */ { comparison: { left, right }, diff }) => html`
      <section>
        <h2>Figures</h2>
        <${Table}
          label="Figures"
          columns=${columns}
          rows=${figures.map(([name, field, shown]) => ({ name, left: shown(left[field]), right: shown(right[field]) }))}
          keyOf=${(/** @type {any} */ row) => row.name}
        />
      </section>
      <div class="sides">
        ${[
          ['The past call', left],
          ['The replay', right],
        ].map(
          ([title, one]) => html`
            <section>
              <h2>${title}</h2>
              <p class="answer">${one.response ?? none}</p>
              ${one.trace_id && html`<p><${Link} to=${`/traces/${one.trace_id}`}>Its trace<//></p>`}
            </section>
          `,
        )}
      </div>
      ${
        diff &&
        html`<section>
          <h2>Differences</h2>
          <p class="answer">${diff.map((/** @type {any} */ part) =>
            part.kind === 'removed'
              ? html`<del class="removed">${part.text}</del>`
              : part.kind === 'added'
                ? html`<ins class="added">${part.text}</ins>`
                : part.text,
          )}</p>
        </section>`
      }
    `}
  <//>
`

/** @param {string | null} winner */
const side = (winner) =>
  winner === 'left'
    ? 'the past call'
    : winner === 'right'
      ? 'the replay'
      : winner === 'tie'
        ? 'both alike'
        : none
