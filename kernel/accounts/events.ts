import { z } from 'zod'
import { defineEvent } from '../events.ts'

export const UserDeleted = defineEvent('user.deleted', z.object({ user_id: z.string() }), {
  description: 'A user was deleted; what is kept of it is to be deleted as well.',
})
