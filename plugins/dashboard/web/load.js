import { useCallback, useEffect, useState } from 'preact/hooks'
import { ask, textOf } from './api.js'

/**
 * What a page shows of the API: the newest answer, or why there is none.
 * @typedef {{ data: any, error: Error | undefined, busy: boolean, reload: () => void }} Loaded
 */

/**
 * Asks for something now, when its path or query changes, when `reload` is called, and every so many milliseconds while the page
 * is in view.
 * @param {string | undefined} path nothing is asked for without one
 * @param {{ query?: Record<string, unknown>, everyMs?: number }} [options]
 * @returns {Loaded}
 */
export function useLoad(path, { query, everyMs } = {}) {
  const url = path === undefined ? undefined : path + textOf(query)
  const [state, setState] = useState(/** @type {{ url?: string, data?: any, error?: Error }} */ ({}))
  const [busy, setBusy] = useState(false)
  const [turn, setTurn] = useState(0)
  const reload = useCallback(() => setTurn((n) => n + 1), [])

  useEffect(() => {
    if (url === undefined) return
    const ended = new AbortController()
    setBusy(true)
    /** @param {(last: { url?: string, data?: any }) => { url: string, data?: any, error?: Error }} next */
    const end = (next) => {
      if (ended.signal.aborted) return
      setState(next)
      setBusy(false)
    }
    ask('GET', url, { signal: ended.signal }).then(
      (data) => end(() => ({ url, data })),
      // What was there stays in view.
      (error) => end((last) => ({ ...(last.url === url && { data: last.data }), url, error })),
    )
    return () => ended.abort()
  }, [url, turn])

  useEffect(() => {
    if (everyMs === undefined) return
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), everyMs)
    return () => clearInterval(timer)
  }, [everyMs, reload])

  const isThis = state.url === url
  return { data: isThis ? state.data : undefined, error: isThis ? state.error : undefined, busy, reload }
}

/** Rows of a page of a list: as many as a browser lays out at once. */
const rowsOfPage = 50

/**
 * A page of a list of the API by its filter and its cursor. The first page is loaded again and again while it is in view; a later
 * one stays as it is for whoever reads it.
 * @param {string} path
 * @param {Record<string, unknown>} query
 * @param {number} [everyMs]
 */
export const useList = (path, query, everyMs) =>
  useLoad(path, {
    query: { limit: rowsOfPage, ...query },
    ...(everyMs !== undefined && query.cursor === undefined && { everyMs }),
  })

/**
 * Runs what a person asked for, one at a time.
 * @returns {{ busy: boolean, error: Error | undefined, run: (work: () => Promise<unknown>) => Promise<boolean>, clear: () => void }}
 *   `run` resolves with whether it succeeded
 */
export function useAction() {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined))
  /** @param {() => Promise<unknown>} work */
  const run = async (work) => {
    if (busy) return false
    setBusy(true)
    setError(undefined)
    try {
      await work()
      return true
    } catch (thrown) {
      setError(/** @type {Error} */ (thrown))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { busy, error, run, clear: () => setError(undefined) }
}
