import { fittingName } from '#provider'

/** Ids of calls that the service takes. */
const form = /^[a-zA-Z0-9_-]{1,64}$/

/** Ids that another provider made may not fit; the same id becomes the same one at every turn. */
export const callIdOf = (id: string): string => (form.test(id) ? id : fittingName(id, 40))
