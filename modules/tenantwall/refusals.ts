import { forbidden } from '#kernel'

export const suspended = () => forbidden('Your organisation is suspended on this gateway. Ask an admin.')

export const unassigned = () =>
  forbidden('Your user belongs to no organisation of this gateway yet. Ask an admin to add it to one.')

export const forAdmins = () =>
  forbidden('Several organisations share this gateway, so figures of the whole of it are for admins.')
