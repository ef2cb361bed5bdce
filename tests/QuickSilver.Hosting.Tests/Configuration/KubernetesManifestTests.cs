using System.Diagnostics;
using k8s;
using k8s.Models;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using QuickSilver.Tests.Infrastructure;
using YamlDotNet.Core;

namespace QuickSilver.Hosting.Tests.Configuration;

// docs/operations/kubernetes.yaml: its objects are such that Kubernetes knows, its parts fit together, the library reads what it sets,
// and qsm knows the options of its servers. No test starts them.
public sealed class KubernetesManifestTests
{
    private const string NotUnderstood = "Run with --help to list the commands and options.";

    private static readonly string Text =
        File.ReadAllText(Path.Combine(RepositoryRoot.Path, "docs", "operations", "kubernetes.yaml"));

    private static readonly List<object> Objects = KubernetesYaml.LoadAllFromString(Text, strict: true);

    [Fact]
    public void Each_object_has_a_type_of_Kubernetes_and_known_fields_alone()
    {
        Assert.Equal(Text.Split("\n---\n").Length, Objects.Count);
        Assert.All(Objects, static one => Assert.IsType<IKubernetesObject<V1ObjectMeta>>(one, exactMatch: false));
        Assert.Throws<YamlException>(
            static () => KubernetesYaml.LoadAllFromString(Text.Replace("replicas:", "replica:", StringComparison.Ordinal), strict: true));
    }

    [Fact]
    public void Three_servers_stand_over_three_members_of_etcd_that_each_of_them_names()
    {
        var etcd = Of<V1StatefulSet>("quicksilver-etcd");
        var servers = Of<V1StatefulSet>("quicksilver-gms");
        Assert.Equal(3, etcd.Spec.Replicas);
        Assert.Equal(3, servers.Spec.Replicas);

        var members = Enumerable.Range(0, 3).Select(static at => $"http://quicksilver-etcd-{at}.quicksilver-etcd:2379");
        string named = servers.Spec.Template.Spec.Containers.Single().Args.Single(static argument => argument.StartsWith("--etcd="));
        Assert.Equal(members, named["--etcd=".Length..].Split(','));
    }

    [Fact]
    public void A_service_selects_the_pods_of_each_set_and_has_the_address_of_each_of_them()
    {
        foreach (var set in Objects.OfType<V1StatefulSet>())
        {
            var service = Of<V1Service>(set.Spec.ServiceName);
            Assert.Equal("None", service.Spec.ClusterIP);
            Assert.True(service.Spec.PublishNotReadyAddresses);
            Assert.Equal(service.Spec.Selector, set.Spec.Selector.MatchLabels);
            AssertSelects(service.Spec.Selector, set.Spec.Template.Metadata.Labels);
        }
    }

    [Fact]
    public void Selectors_volumes_and_probes_name_what_exists()
    {
        foreach (var pod in Objects.OfType<V1StatefulSet>().Select(static set => set.Spec.Template)
            .Concat(Objects.OfType<V1Deployment>().Select(static deployment => deployment.Spec.Template)))
        {
            var container = pod.Spec.Containers.Single();
            var volumes = (pod.Spec.Volumes ?? []).Select(static volume => volume.Name)
                .Concat(Objects.OfType<V1StatefulSet>().Where(set => set.Spec.Template == pod)
                    .SelectMany(static set => set.Spec.VolumeClaimTemplates ?? []).Select(static claim => claim.Metadata.Name));
            Assert.Equal(container.VolumeMounts.Select(static mount => mount.Name).Order(), volumes.Order());
            var ports = container.Ports.Select(static port => port.Name).ToHashSet();
            foreach (var probe in new[] { container.LivenessProbe, container.ReadinessProbe }.OfType<V1Probe>())
            {
                Assert.Contains((probe.HttpGet?.Port ?? probe.TcpSocket.Port).Value, ports);
            }

            Assert.Contains(Objects.OfType<V1NetworkPolicy>(), policy =>
                policy.Spec.PodSelector.MatchLabels.All(one => pod.Metadata.Labels.Contains(one)));
        }
    }

    [Fact]
    public void A_node_binds_the_options_that_the_worker_has_in_its_environment()
    {
        var worker = Of<V1Deployment>("telemetry-worker").Spec.Template.Spec.Containers.Single();
        var settings = worker.Env.Where(static one => one.Name.StartsWith("QuickSilver__", StringComparison.Ordinal)).ToDictionary(
            static one => one.Name.Replace("__", ":", StringComparison.Ordinal),
            static one => (string?)one.Value.Replace("$(POD_IP)", "10.1.2.3", StringComparison.Ordinal));
        var services = new ServiceCollection();
        services.AddQuickSilver(new ConfigurationBuilder().AddInMemoryCollection(settings).Build().GetSection("QuickSilver"));
        using var provider = services.BuildServiceProvider();

        var options = provider.GetRequiredService<IOptions<QuickSilverOptions>>().Value;

        Assert.Equal("trading", options.Cluster);
        Assert.Equal("10.1.2.3", options.Interface!.ToString());
        Assert.Equal(["quicksilver-gms:7400"], options.Membership.Servers);
        Assert.Equal(Dissemination.Unicast, options.Dissemination);
        string secret = worker.VolumeMounts.Single(static mount => mount.Name == "secret").MountPath;
        Assert.Equal($"{secret}/cluster.secret", options.Security.SecretFile);
        string command = Of<V1StatefulSet>("quicksilver-gms").Spec.Template.Spec.Containers.Single().Args
            .Single(static argument => argument.StartsWith("--cluster="));
        Assert.Equal($"--cluster={options.Cluster}", command);
    }

    // Its secret is missing here, which qsm says when it has read the command line, and before it looks for etcd.
    [Fact]
    public async Task The_tool_takes_the_arguments_of_the_servers()
    {
        var arguments = Of<V1StatefulSet>("quicksilver-gms").Spec.Template.Spec.Containers.Single().Args;
        string said = await RunGmsAsync(arguments);
        Assert.Contains(arguments.Single(static one => one.StartsWith("--security="))["--security=".Length..], said);
        Assert.DoesNotContain(NotUnderstood, said);
        Assert.Contains(NotUnderstood, await RunGmsAsync([.. arguments, "--replicas=3"]));
    }

    private static async Task<string> RunGmsAsync(IEnumerable<string> arguments)
    {
        string configuration = Path.GetFileName(AppContext.BaseDirectory.TrimEnd(Path.DirectorySeparatorChar));
        string tool = Path.Combine(RepositoryRoot.Path, "artifacts", "bin", "qsm", configuration, "qsm.dll");
        var start = new ProcessStartInfo("dotnet", [tool, "gms", .. arguments.Select(WithAddress)])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using var process = Process.Start(start)!;
        try
        {
            var errors = process.StandardError.ReadToEndAsync();
            string said = await process.StandardOutput.ReadToEndAsync().OrFail();
            await process.WaitForExitAsync().OrFail();
            Assert.NotEqual(0, process.ExitCode);
            return said + await errors;
        }
        finally
        {
            process.Kill();
        }

        static string WithAddress(string argument) => argument.Replace("$(POD_IP)", "10.1.2.3", StringComparison.Ordinal);
    }

    private static T Of<T>(string name)
        where T : IKubernetesObject<V1ObjectMeta> => Objects.OfType<T>().Single(one => one.Metadata.Name == name);

    private static void AssertSelects(IDictionary<string, string> selector, IDictionary<string, string> labels) =>
        Assert.All(selector, one => Assert.Contains(one, labels));
}
