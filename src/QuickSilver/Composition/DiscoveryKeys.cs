using System.Collections.Immutable;
using QuickSilver.Core.Background;
using QuickSilver.Core.Transport.Tls;

namespace QuickSilver.Composition;

// The keys of discovery, of credentials in files that may be replaced. A node that has lost its service asks the network before it connects
// to any of them, and a host that accepts only newer keys does not answer a question under the old one. So a question or an answer also
// makes a thread beside read the files, and the next question is under the newest key.
internal sealed class DiscoveryKeys(IStreamCredentials credentials)
{
    private Task _look = Task.CompletedTask;

    /// <summary>The keys that are known. Core thread only.</summary>
    public ImmutableArray<byte[]> Read()
    {
        if (_look.IsCompleted && credentials.IsLookDue)
        {
            _look = Detached.RunOnThread("QuickSilver files", credentials.Refresh);
        }

        return credentials.Latest.DiscoveryKeys;
    }
}
