using QuickSilver.Composition;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport.Tls;

namespace QuickSilver.Tests.Composition;

public sealed class DiscoveryKeysTests
{
    [Fact]
    public async Task A_question_or_answer_makes_the_files_be_checked_and_does_not_wait_for_them()
    {
        var credentials = new SlowCredentials();
        var keys = new DiscoveryKeys(credentials);
        Assert.Equal(credentials.Latest.DiscoveryKeys, keys.Read());
        _ = keys.Read();
        await credentials.Looked.Task;
        Assert.Equal(1, credentials.Looks);
        credentials.MayEnd.SetResult();
        Assert.True(SpinWait.SpinUntil(
            () =>
            {
                _ = keys.Read();
                return credentials.Looks > 1;
            },
            TimeSpan.FromSeconds(30)));
    }

    private sealed class SlowCredentials : IStreamCredentials
    {
        private int _looks;

        public TlsCredentials Latest { get; } = TlsCredentials.Of([Secret.Of("desk", new byte[Secret.LeastKeyBytes])]);

        public TaskCompletionSource Looked { get; } = new();

        public TaskCompletionSource MayEnd { get; } = new();

        public int Looks => Volatile.Read(ref _looks);

        public TlsCredentials Refresh()
        {
            Interlocked.Increment(ref _looks);
            Looked.TrySetResult();
            MayEnd.Task.Wait();
            return Latest;
        }
    }
}
