using System.Net;
using System.Net.Sockets;
using System.Text;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Network;

// A service whose process may open few files and sockets, and clients that connect and say nothing.
public sealed class DescriptorScenarios : IDisposable
{
    private const int Limit = 160;
    private const int Connections = 2_000;
    private const int Attempts = 20;
    // Of each address, as many as the process may open in all.
    private const int MostHeld = 3 * Limit;

    private readonly ToolProcesses _processes = new();
    private readonly Queue<Socket> _held = new();
    private readonly string _cluster = $"descriptors-{Guid.NewGuid():N}";

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Silent_connections_of_three_addresses_neither_end_the_service_nor_keep_a_node_out(bool hasSecret)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "other systems show no limit");
        string[] cluster = ["--cluster", _cluster];
        var folder = Directory.CreateTempSubdirectory("qs-descriptors-");
        try
        {
            if (hasSecret)
            {
                string secret = Path.Combine(folder.FullName, "secret");
                Assert.Equal(0, _processes.Run("keys", "secret", "--out", secret).Code);
                cluster = [.. cluster, "--security", secret];
            }

            var service = _processes.StartWithDescriptors(Limit, ["gms", "--listen", "127.0.0.1:0", .. cluster]);
            var said = new StringBuilder();
            string at = ToolProcesses.Await(service.StandardError, "listening ", said)["listening ".Length..];
            var errors = service.StandardError.ReadToEndAsync();
            Flood(IPEndPoint.Parse(at));

            PublishInFlood(at, cluster);
            Assert.False(service.HasExited, "The service has ended.");
            service.Kill();
            said.Append(await errors);
            Assert.Contains($" 1324: This process may open {Limit} files and sockets, of which 32 stay in reserve", said.ToString());
            Assert.Contains($"this process may open {Limit} files and sockets, and fewer than 32 are left", said.ToString());
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    public void Dispose()
    {
        foreach (var socket in _held)
        {
            socket.Dispose();
        }

        _processes.Dispose();
    }

    private void PublishInFlood(string service, string[] cluster)
    {
        using var stop = new CancellationTokenSource();
        var flood = Task.Run(() =>
        {
            while (!stop.IsCancellationRequested)
            {
                Flood(IPEndPoint.Parse(service), connections: 3);
            }
        });
        try
        {
            // A connection may be closed while those that gave way close. A client that comes again gets in.
            Assert.Contains(Enumerable.Range(0, Attempts), _ => HasPublished(service, cluster));
        }
        finally
        {
            stop.Cancel();
            flood.Wait();
        }
    }

    private bool HasPublished(string service, string[] cluster)
    {
        var publisher = _processes.Start(["pub", "t", "--no-wait", "--gms", service, .. cluster]);
        publisher.StandardInput.Write("one line\n");
        publisher.StandardInput.Close();
        return publisher.WaitForExit(ToolProcesses.Limit) && publisher.ExitCode == 0;
    }

    private void Flood(IPEndPoint service, int connections = Connections)
    {
        for (int i = 0; i < connections; i++)
        {
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            _held.Enqueue(socket);
            try
            {
                socket.Bind(new IPEndPoint(new IPAddress([127, 0, 0, (byte)(2 + (i % 3))]), 0));
                socket.ConnectSoon(service);
            }
            catch (SocketException)
            {
                // The service that is gone is seen by the test.
            }

            if (_held.Count > MostHeld)
            {
                _held.Dequeue().Dispose();
            }
        }
    }
}
