/** What one check has found. A warning is worth knowing and keeps nothing from working. */
export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
}

const maker =
  (status: Check['status']) =>
  (name: string, message: string): Check => ({ name, status, message })

export const ok = maker('ok')
export const warning = maker('warning')
export const failed = maker('failed')
