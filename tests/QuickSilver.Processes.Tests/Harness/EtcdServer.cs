using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;

namespace QuickSilver.Processes.Tests.Harness;

// The authority whose certificates etcd requires, and its own with its key, which is for both roles: its gateway is a client of it.
internal sealed record EtcdKeys(string Authority, string Certificate);

// One etcd on the loopback interface, with its data in a folder of its own; it ends with its test.
internal sealed class EtcdServer : IDisposable
{
    private const string Program = "etcd";
    private const int MostStarts = 10;
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(30);

    private readonly EtcdKeys? _keys;
    private readonly Func<int, int, string, Dictionary<string, string>>? _settings;
    private readonly DirectoryInfo _data = Directory.CreateTempSubdirectory("etcd");
    private Process? _process;
    private int _port;
    private int _peerPort;

    /// <param name="keys">With what it proves itself, and whom it trusts; null: it is without TLS.</param>
    /// <param name="settings">Its environment, from its port, its port for members, and its folder; null: it gets options.</param>
    public EtcdServer(EtcdKeys? keys = null, Func<int, int, string, Dictionary<string, string>>? settings = null)
    {
        _keys = keys;
        _settings = settings;
        // Another program may take a port between its choice and the start.
        for (int i = 1; !TryStart(i > 1 || _port == 0); i++)
        {
            Assert.True(i < MostStarts, "etcd did not start.");
        }
    }

    /// <summary>Null, or why there is none.</summary>
    public static string? Missing => Environment.GetEnvironmentVariable("PATH")!.Split(':').Any(static folder =>
        File.Exists(Path.Combine(folder, Program)))
        ? null
        : "etcd is not installed (Debian: etcd-server).";

    /// <summary>Skips the running test, with the reason, where there is none.</summary>
    public static void SkipIfMissing() => Assert.SkipWhen(Missing is not null, Missing ?? "");

    public Uri Address => new($"http{(_keys is null ? "" : "s")}://127.0.0.1:{_port}/");

    public void Kill()
    {
        _process?.Kill();
        _process?.WaitForExit();
        _process?.Dispose();
        _process = null;
    }

    /// <summary>Starts it again, with the same data at the same address.</summary>
    public void Restart() => Assert.True(TryStart(isNew: false), "etcd did not start again.");

    public void Dispose()
    {
        Kill();
        _data.Delete(recursive: true);
    }

    private bool TryStart(bool isNew)
    {
        if (isNew)
        {
            (_port, _peerPort) = (FreePort(), FreePort());
        }

        // Redirected, and read: it would hold the output of the test run open, if that ended before it.
        var start = new ProcessStartInfo(Program, ["--log-level", "error", .. _settings is null ? Options() : []])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach (var (name, value) in _settings?.Invoke(_port, _peerPort, _data.FullName) ?? [])
        {
            start.Environment[name] = value;
        }

        _process = Process.Start(start)!;
        _process.BeginOutputReadLine();
        _process.BeginErrorReadLine();
        using var handler = new HttpClientHandler
        {
            // Only whether it is up.
            ServerCertificateCustomValidationCallback = HttpClientHandler.DangerousAcceptAnyServerCertificateValidator,
        };
        if (_keys is not null)
        {
            handler.ClientCertificates.Add(X509Certificate2.CreateFromPemFile(_keys.Certificate));
        }

        using var http = new HttpClient(handler) { Timeout = TimeSpan.FromSeconds(1) };
        bool isHealthy = false;
        SpinWait.SpinUntil(() => (isHealthy = IsHealthy(http)) || _process.HasExited, StartLimit);
        if (!isHealthy)
        {
            Kill();
        }

        return isHealthy;
    }

    private string[] Options()
    {
        string peer = $"http://127.0.0.1:{_peerPort}";
        string client = Address.ToString().TrimEnd('/');
        return
        [
            "--name", "one", "--data-dir", _data.FullName,
            "--listen-client-urls", client, "--advertise-client-urls", client,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", $"one={peer}",
            .. _keys is null ? Array.Empty<string>() :
            [
                "--client-cert-auth", "--trusted-ca-file", _keys.Authority,
                "--cert-file", _keys.Certificate, "--key-file", _keys.Certificate,
            ],
        ];
    }

    private bool IsHealthy(HttpClient http)
    {
        try
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(Address, "health"));
            using var answer = http.Send(request);
            return answer.IsSuccessStatusCode;
        }
        catch (Exception exception) when (exception is HttpRequestException or TaskCanceledException)
        {
            return false;
        }
    }

    private static int FreePort()
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        return ((IPEndPoint)socket.LocalEndPoint!).Port;
    }
}
