using System.Net;
using System.Net.Sockets;
using System.Text;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Tool.Etcd;

namespace QuickSilver.Tool.Tests.Etcd;

// A member of etcd whose stream of keep-alive requests fails: the gateway may have sent the status of a success before.
public sealed class EtcdStreamErrorTests
{
    private const string Error = """{"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: no leader"}}""";

    [Theory]
    [InlineData("200 OK", Error)]
    [InlineData("503 Service Unavailable", Error)]
    [InlineData("503 Service Unavailable", """{"error":"etcdserver: no leader","code":14}""")]
    public async Task A_failed_keep_alive_is_no_end_of_the_lease_and_says_why_it_failed(string status, string answer)
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var answering = AnswerAsync(listener, status, answer);
        // What fails is the answer, however long a busy machine takes for it.
        using var client = new EtcdClient(
            new EtcdAccess([new Uri($"http://{listener.LocalEndpoint}/")]), NullLogger.Instance, callLimit: TimeSpan.FromMinutes(1));
        var failure = await Assert.ThrowsAsync<EtcdUnavailableException>(() => client.CallAsync(
            "v3/lease/keepalive",
            new EtcdLeaseRequest { Id = 9 },
            EtcdJson.Default.EtcdLeaseRequest,
            EtcdJson.Default.EtcdKeepAliveResponse,
            CancellationToken.None));
        Assert.Contains($"status {status[..3]} (etcdserver: no leader)", failure.Message, StringComparison.Ordinal);
        await answering;
    }

    private static async Task AnswerAsync(TcpListener listener, string status, string answer)
    {
        using var connection = await listener.AcceptTcpClientAsync();
        await using var stream = connection.GetStream();
        var request = new StringBuilder();
        byte[] buffer = new byte[4096];
        while (!request.ToString().Contains("\"9\"", StringComparison.Ordinal))
        {
            request.Append(Encoding.UTF8.GetString(buffer, 0, await stream.ReadAsync(buffer)));
        }

        await stream.WriteAsync(Encoding.UTF8.GetBytes(
            $"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {answer.Length}\r\n"
            + $"Connection: close\r\n\r\n{answer}"));
        connection.Client.Shutdown(SocketShutdown.Send);
        // A connection that is closed before the rest of the request was read is reset, and the answer may be lost with it.
        while (await stream.ReadAsync(buffer) > 0)
        {
        }
    }
}
