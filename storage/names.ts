import { StoreError } from './errors.ts'

const longestId = 1024

/** Joins a name to the path of its namespace; refuses names outside `[a-z0-9_-]+`. */
export function joinName(path: string, name: string): string {
  if (!/^[a-z0-9_-]+$/.test(name)) {
    throw new StoreError('NAME_INVALID', `"${name}" cannot name a part of the store: use a-z, 0-9, _ and -.`)
  }
  return path === '' ? name : `${path}/${name}`
}

/** Refuses names of indexes and fields that could not be part of a key. */
export function checkIndexNames(names: readonly string[]): void {
  for (const name of names) {
    if (!/^[\w.-]+$/.test(name)) {
      throw new StoreError('NAME_INVALID', `"${name}" cannot name an index: use letters, digits, _, . and -.`)
    }
  }
}

/** Whether a row may have this id: 1 to 1024 characters of valid Unicode without U+0000. */
export function isId(id: string): boolean {
  return id.length > 0 && id.length <= longestId && id.isWellFormed() && !id.includes('\0')
}

/** Throws `ID_INVALID` for what `isId` refuses. */
export function checkId(id: string): void {
  if (!isId(id)) {
    throw new StoreError(
      'ID_INVALID',
      `An id has 1 to ${longestId} characters of valid Unicode, none of them U+0000.`,
    )
  }
}
