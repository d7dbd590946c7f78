import { Costs } from './pages/costs.js'
import { Keys } from './pages/keys.js'
import { Module } from './pages/module.js'
import { Modules } from './pages/modules.js'
import { Overview } from './pages/overview.js'
import { Playground } from './pages/playground.js'
import { Providers } from './pages/providers.js'
import { Status } from './pages/status.js'
import { Trace } from './pages/trace.js'
import { Traces } from './pages/traces.js'
import { User } from './pages/user.js'
import { Users } from './pages/users.js'
import { matched } from './router.js'

/**
 * A page: where it is, what it is called in the menu (without a title it is not there), and whether only admins may see it.
 * @typedef {{ at: string, title?: string, admin?: boolean, show: (props: any) => any }} Page
 */

/** @type {readonly Page[]} */
export const pages = [
  { at: '/', title: 'Overview', show: Overview },
  { at: '/traces', title: 'Traces', show: Traces },
  { at: '/traces/:id', show: Trace },
  { at: '/playground', title: 'Playground', show: Playground },
  { at: '/costs', title: 'Costs', show: Costs },
  { at: '/modules', title: 'Modules', admin: true, show: Modules },
  { at: '/modules/:name', admin: true, show: Module },
  { at: '/providers', title: 'Providers', admin: true, show: Providers },
  { at: '/users', title: 'Users', admin: true, show: Users },
  { at: '/users/:id', admin: true, show: User },
  { at: '/keys', title: 'My keys', show: Keys },
  { at: '/status', title: 'Status', show: Status },
]

/**
 * @param {string} path
 * @param {readonly Page[]} among
 */
export function pageAt(path, among) {
  for (const page of among) {
    const values = matched(page.at, path)
    if (values) return { page, values }
  }
  return undefined
}
