// Keeps a server that would listen on every interface on this machine: `node --require loopback.cjs …`.
const { Server } = require('node:net');
const listen = Server.prototype.listen;
Server.prototype.listen = function (port, ...rest) {
  return listen.call(this, { port: Number(port), host: '127.0.0.1' }, ...rest.filter((value) => typeof value === 'function'));
};
