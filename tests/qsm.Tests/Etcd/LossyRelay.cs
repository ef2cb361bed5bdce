using System.Net;
using System.Net.Sockets;
using System.Text;

namespace QuickSilver.Tool.Tests.Etcd;

// Between a client and etcd: it loses the answer to the first transaction, and the request that revokes a lease after it, if it is to.
internal sealed class LossyRelay : IDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly CancellationTokenSource _end = new();
    private readonly Uri _etcd;
    private int _requestsToLose;
    private int _answersLost;
    private int _requestsLost;

    public LossyRelay(Uri etcd, bool losesRevocation)
    {
        _etcd = etcd;
        _requestsToLose = losesRevocation ? 1 : 0;
        _listener.Start();
        Address = new Uri($"http://{_listener.LocalEndpoint}/");
        _ = AcceptAsync();
    }

    public Uri Address { get; }

    public int AnswersLost => Volatile.Read(ref _answersLost);

    public int RequestsLost => Volatile.Read(ref _requestsLost);

    public void Dispose()
    {
        _end.Cancel();
        _listener.Dispose();
        _end.Dispose();
    }

    private async Task AcceptAsync()
    {
        try
        {
            while (true)
            {
                _ = RelayAsync(await _listener.AcceptTcpClientAsync(_end.Token));
            }
        }
        catch (Exception over) when (over is OperationCanceledException or SocketException or ObjectDisposedException)
        {
            // The test is over.
        }
    }

    private async Task RelayAsync(TcpClient near)
    {
        using var far = new TcpClient();
        try
        {
            using (near)
            {
                await far.ConnectAsync(_etcd.Host, _etcd.Port, _end.Token);
                bool losesAnswer = false;
                var there = PumpAsync(near.GetStream(), far.GetStream(), request =>
                {
                    bool isTransaction = request.Contains("/v3/kv/txn", StringComparison.Ordinal);
                    losesAnswer |= isTransaction && Interlocked.CompareExchange(ref _answersLost, 1, 0) == 0;
                    bool isLost = request.Contains("/v3/lease/revoke", StringComparison.Ordinal)
                        && Interlocked.Decrement(ref _requestsToLose) == 0;
                    Interlocked.Add(ref _requestsLost, isLost ? 1 : 0);
                    return !isLost;
                });
                var back = PumpAsync(far.GetStream(), near.GetStream(), _ => !losesAnswer);
                await Task.WhenAny(there, back);
            }
        }
        catch (Exception over) when (over is OperationCanceledException or SocketException or ObjectDisposedException)
        {
            // The test is over.
        }
    }

    private async Task PumpAsync(NetworkStream from, NetworkStream to, Func<string, bool> passes)
    {
        byte[] piece = new byte[64 << 10];
        try
        {
            while (await from.ReadAsync(piece, _end.Token) is > 0 and int read)
            {
                if (passes(Encoding.ASCII.GetString(piece, 0, read)))
                {
                    await to.WriteAsync(piece.AsMemory(0, read), _end.Token);
                }
            }
        }
        catch (Exception over) when (over is OperationCanceledException or IOException or ObjectDisposedException)
        {
            // One of both is gone.
        }
    }
}
