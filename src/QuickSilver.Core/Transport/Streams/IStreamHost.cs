using Microsoft.Extensions.Logging;
using QuickSilver.Core.Requests;

namespace QuickSilver.Core.Transport.Streams;

// What control streams need of the core thread, on which all of this is called.
internal interface IStreamHost
{
    IPoller Poller { get; }

    ILogger Logger { get; }

    /// <summary>Puts work off to the end of the turn.</summary>
    void Defer(WorkClass workClass, Request request);

    /// <summary>Executes an action after a time.</summary>
    void After(TimeSpan delay, Action action);
}
