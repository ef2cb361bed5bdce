using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service.Failures;

namespace QuickSilver.Membership.Client;

// Whether the machine still has the address of this node. All others know the node by it, and nothing that the node sends leaves the
// machine without it: a node whose address is gone for good ends, so that another one can start at the new address.
//
// What goes wrong: an interface that is configured anew, as by a network manager, is without its address for a moment. So the node goes on
// for as long as the service would wait for it, but for the time that its end takes to be seen.
internal sealed class AddressWatch
{
    private readonly INodeEnvironment _environment;
    private readonly IPAddress _address;
    private readonly TimeSpan _interval;
    private readonly TimeSpan _limit;
    private readonly ILogger _logger;
    private readonly Action<string> _onGone;
    private readonly Alarm _alarm;
    private volatile Trouble? _trouble;
    private TimeSpan _goneSince;

    /// <param name="environment">The node's.</param>
    /// <param name="failures">How long the service waits for a node.</param>
    /// <param name="logger">The node's.</param>
    /// <param name="onGone">Called once, with the reason, when the address has been gone for too long.</param>
    public AddressWatch(INodeEnvironment environment, FailureDetectorOptions failures, ILogger logger, Action<string> onGone)
    {
        _environment = environment;
        _address = environment.LocalAddress;
        _interval = failures.HeartbeatInterval;
        _limit = failures.AlmostSilence;
        _logger = logger;
        _onGone = onGone;
        _alarm = new Alarm(Look);
    }

    /// <summary>Null while the machine has the address. From any thread.</summary>
    public Trouble? Trouble => _trouble;

    public void Begin()
    {
        // The loopback interface does not lose its addresses.
        if (!IPAddress.IsLoopback(_address))
        {
            _environment.Schedule(_alarm, _interval);
        }
    }

    public void End() => _environment.Cancel(_alarm);

    private void Look()
    {
        var now = _environment.Now;
        if (_environment.HasLocalAddress)
        {
            if (_trouble is not null)
            {
                _trouble = null;
                _logger.AddressReturned(_address);
            }
        }
        else if (_trouble is null)
        {
            _goneSince = now;
            _trouble = new Trouble(
                TroubleKind.AddressLost,
                $"No interface of this machine has the address {_address} of this node any more.",
                _environment.UtcNow,
                "the address to come back");
            _logger.AddressLost(_address, _limit);
        }
        else if (now - _goneSince >= _limit)
        {
            _onGone($"no interface of this machine has its address {_address} any more");
            return;
        }

        _environment.Schedule(_alarm, _interval);
    }
}
