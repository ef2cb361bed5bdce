using Microsoft.Extensions.Logging;

namespace QuickSilver.Composition;

// Starts the nodes of a host: on a machine, in memory, or in a simulation. It is a service of the host.
internal delegate Task<QuickSilverNode> NodeStarter(QuickSilverOptions options, ILoggerFactory logs, CancellationToken cancellationToken);
