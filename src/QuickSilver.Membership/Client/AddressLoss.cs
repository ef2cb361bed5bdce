using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service.Failures;

namespace QuickSilver.Membership.Client;

// The machine does not have the address of this node any more. All others know the node by it, and nothing that the node sends leaves the
// machine without it: a node whose address is permanently gone ends, so that another one can start at the new address.
//
// What goes wrong: an interface that a network manager configures again is without its address for a moment. So the node continues for
// nearly as long as the service would wait for it.
internal sealed class AddressLoss
{
    private readonly TimeSpan _until;

    private AddressLoss(INodeEnvironment environment, FailureDetectorOptions failures, ILogger logger)
    {
        _until = environment.Now + failures.AlmostSilence;
        Trouble = new Trouble(
            TroubleKind.AddressLost,
            $"No interface of this machine has the address {environment.LocalAddress} of this node any more.",
            environment.UtcNow,
            "the address to come back");
        logger.AddressLost(environment.LocalAddress, failures.AlmostSilence);
    }

    public Trouble Trouble { get; }

    /// <summary>Looks whether the machine has the address now.</summary>
    /// <param name="known">What was found last; null: it had it.</param>
    /// <param name="environment">The node's.</param>
    /// <param name="failures">How long the service waits for a node.</param>
    /// <param name="logger">The node's.</param>
    public static AddressLoss? Look(
        AddressLoss? known, INodeEnvironment environment, FailureDetectorOptions failures, ILogger logger)
    {
        // The loopback interface does not lose its addresses.
        if (!IPAddress.IsLoopback(environment.LocalAddress) && !environment.HasLocalAddress)
        {
            return known ?? new AddressLoss(environment, failures, logger);
        }

        if (known is not null)
        {
            logger.AddressReturned(environment.LocalAddress);
        }

        return null;
    }

    /// <summary>Whether the node has waited long enough.</summary>
    public bool IsForGood(TimeSpan now) => now >= _until;
}
