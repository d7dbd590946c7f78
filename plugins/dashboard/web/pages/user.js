import { html } from '../html.js'
import { useLoad } from '../load.js'
import { KeyList } from '../parts/key-list.js'
import { Loads } from '../parts/notice.js'
import { Facts } from '../parts/table.js'
import { Link } from '../router.js'
import { count, none, usd, when } from '../text.js'

/**
 * One user: who it is, what it spends, and its keys.
 * @param {{ id: string }} props
 */
export function User({ id }) {
  const path = `/api/auth/users/${encodeURIComponent(id)}`
  const user = useLoad(path)
  const spend = useLoad(`/api/users/${encodeURIComponent(id)}/spend`)
  return html`
    <p class="trail"><${Link} to="/users">Users<//></p>
    <${Loads} of=${user}>
      ${(/** @type {any} */ data) => html`
        <h1>${data.email}</h1>
        <${Facts} of=${[['Id', html`<code>${data.user_id}</code>`], ['Name', data.name ?? none], ['Plan', data.plan], ['Since', when(data.created_at)]]} />
      `}
    <//>
    <section>
      <h2>Spending</h2>
      <${Loads} of=${spend}>${(/** @type {any} */ data) => html`<${Spending} data=${data} />`}<//>
      <p><${Link} to="/traces" query=${{ user_id: id }}>Its calls<//></p>
    </section>
    <section>
      <h2>Keys</h2>
      <${KeyList} path=${`${path}/keys`} />
    </section>
  `
}

/** @param {{ data: any }} props */
const Spending = ({ data }) => html`
  <${Facts}
    of=${[
      ['Today', usd(data.today)],
      ['This month', usd(data.month)],
      ['Requests this month', count(data.requests_month)],
      ['Cap a day', usd(data.cap.daily_cap)],
      ['Cap a month', usd(data.cap.monthly_cap)],
    ]}
  />
`
