import { useEffect, useState } from 'preact/hooks'
import { textOf } from './api.js'
import { html } from './html.js'

const base = '/dashboard'
const moved = 'dashboard:moved'

/**
 * A place in the dashboard.
 * @typedef {{ path: string, query: Record<string, string> }} Place
 */

/** @returns {Place} */
function here() {
  const path = decodeURI(location.pathname).slice(base.length).replace(/\/+$/, '') || '/'
  return { path, query: Object.fromEntries(new URLSearchParams(location.search)) }
}

/** The place that the address bar shows, and every one after it. */
export function usePlace() {
  const [place, setPlace] = useState(here)
  useEffect(() => {
    const look = () => setPlace(here())
    addEventListener('popstate', look)
    addEventListener(moved, look)
    return () => {
      removeEventListener('popstate', look)
      removeEventListener(moved, look)
    }
  }, [])
  return place
}

/**
 * Goes to another place; `replace` leaves this one out of the history.
 * @param {string} path
 * @param {{ query?: Record<string, unknown>, replace?: boolean }} [options]
 */
export function go(path, { query, replace = false } = {}) {
  const url = urlOf(path, query)
  if (replace) history.replaceState(null, '', url)
  else history.pushState(null, '', url)
  dispatchEvent(new Event(moved))
  if (!replace) scrollTo(0, 0)
}

/**
 * @param {string} path
 * @param {Record<string, unknown>} [query]
 */
export const urlOf = (path, query) => base + (path === '/' ? '' : path) + textOf(query)

/**
 * A path with whose it is: two users may have things of the same name.
 * @param {string} path
 * @param {string | null | undefined} user_id
 */
export const placeOf = (path, user_id) => path + textOf({ user_id })

/**
 * A link to a page of the dashboard.
 * @param {{ to: string, query?: Record<string, unknown>, class?: string, current?: boolean, children?: import('./html.js').Children }} props
 */
export function Link({ to, query, current, children, ...rest }) {
  /** @param {MouseEvent} event */
  const follow = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    go(to, query ? { query } : {})
  }
  return html`<a href=${urlOf(to, query)} onClick=${follow} aria-current=${current ? 'page' : undefined} ...${rest}>${children}</a>`
}

/**
 * The values of a form such as `/traces/:id` in a path; undefined for any other path.
 * @param {string} form
 * @param {string} path
 * @returns {Record<string, string> | undefined}
 */
export function matched(form, path) {
  const [wanted, given] = [form.split('/'), path.split('/')]
  if (wanted.length !== given.length) return undefined
  /** @type {Record<string, string>} */
  const values = {}
  for (const [n, part] of wanted.entries()) {
    const value = given[n] ?? ''
    if (part.startsWith(':')) values[part.slice(1)] = value
    else if (part !== value) return undefined
  }
  return values
}
