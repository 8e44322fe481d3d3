/** An address of this machine itself. */
const isOwn = (host: string) => host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d+){3}$/.test(host)

/** Whether the server can be reached as far as the browser knows. One on this very machine can, whatever network there is. */
export const isOnLine = (host = location.hostname): boolean => navigator.onLine || isOwn(host)
