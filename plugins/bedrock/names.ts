import { fittingName } from '#kit'

/** Ids of calls, and names of tools, that the service takes. */
export const nameForm = /^[a-zA-Z0-9_-]{1,64}$/

/** Ids that another provider made may not fit; the same id becomes the same one at every turn. */
export const callIdOf = (id: string): string => (nameForm.test(id) ? id : fittingName(id, 40))
